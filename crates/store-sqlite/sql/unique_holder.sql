SELECT key, unique_until FROM jobs
WHERE partition = ?1 AND tenant = ?2 AND job_type = ?3 AND unique_key = ?4
ORDER BY key DESC LIMIT 1
