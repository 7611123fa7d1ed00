-- As `ready_jobs.sql`, of those that belong to no group.
SELECT key, priority, group_key FROM jobs
WHERE partition = ?1 AND job_type = ?2 AND tenant = ?3 AND availability = 'READY' AND priority = ?4 AND ?5 < key AND group_key IS NULL
UNION ALL
SELECT key, priority, group_key FROM jobs
WHERE partition = ?1 AND job_type = ?2 AND tenant = ?3 AND availability = 'READY' AND priority < ?4 AND group_key IS NULL
ORDER BY priority DESC, key LIMIT ?6
