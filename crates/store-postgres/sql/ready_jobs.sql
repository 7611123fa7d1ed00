-- Jobs of one type and tenant that wait for a worker, by key. $1 partition, $2 type, $3 tenant, $4 after this key, $5 limit.
SELECT key, instance FROM jobs
WHERE partition = $1 AND job_type = $2 AND tenant = $3 AND key > $4 AND availability = 'READY'
ORDER BY key
LIMIT $5
