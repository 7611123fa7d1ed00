-- $1 partition, $2 key.
WHERE r.partition = $1 AND r.key = $2
