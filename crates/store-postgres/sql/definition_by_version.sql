-- $1 partition, $2 tenant, $3 process id, $4 version.
WHERE d.partition = $1 AND d.tenant = $2 AND d.process_id = $3 AND d.version = $4
