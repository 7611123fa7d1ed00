SELECT key, instance FROM jobs
WHERE partition = ?1 AND job_type = ?2 AND tenant = ?3 AND availability = 'READY' AND ?4 < key
ORDER BY key LIMIT ?5
