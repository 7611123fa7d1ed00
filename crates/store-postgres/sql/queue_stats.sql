-- What has happened in queues. $1 partition, $2 of this type, or of all if that is empty.
SELECT job_type, tenant, waiting, running, updated, stats FROM queue_stats
WHERE partition = $1 AND ($2 = '' OR job_type = $2)
ORDER BY job_type, tenant
