-- The highest not deleted version below $4. $1 partition, $2 tenant, $3 process id.
WHERE d.partition = $1 AND d.tenant = $2 AND d.process_id = $3 AND d.version < $4 AND NOT d.deleted
ORDER BY d.version DESC
LIMIT 1
