SELECT job_type, tenant, waiting, running, updated, stats FROM queue_stats
WHERE partition = ?1 AND (?2 IS NULL OR job_type = ?2)
ORDER BY job_type, tenant
