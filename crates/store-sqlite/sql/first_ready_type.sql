SELECT job_type, tenant FROM jobs
WHERE partition = ?1 AND availability = 'READY'
ORDER BY job_type, tenant LIMIT 1
