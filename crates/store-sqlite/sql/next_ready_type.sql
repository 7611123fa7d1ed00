-- From one type to the next, whatever the number of jobs in between.
SELECT job_type, tenant FROM jobs
WHERE partition = ?1 AND availability = 'READY' AND (job_type, tenant) > (?2, ?3)
ORDER BY job_type, tenant LIMIT 1
