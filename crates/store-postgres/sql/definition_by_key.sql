-- $1 partition, $2 key.
WHERE d.partition = $1 AND d.key = $2
