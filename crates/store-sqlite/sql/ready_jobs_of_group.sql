-- As `ready_jobs.sql`, of one group.
SELECT key, priority, group_key FROM jobs
WHERE partition = ?1 AND job_type = ?2 AND tenant = ?3 AND group_key = ?7 AND availability = 'READY' AND priority = ?4 AND ?5 < key
UNION ALL
SELECT key, priority, group_key FROM jobs
WHERE partition = ?1 AND job_type = ?2 AND tenant = ?3 AND group_key = ?7 AND availability = 'READY' AND priority < ?4
ORDER BY priority DESC, key LIMIT ?6
