-- The rest of the priority where the window stopped, then lower ones: each a range of the index, read no further than is asked for.
SELECT key, priority FROM jobs
WHERE partition = ?1 AND job_type = ?2 AND tenant = ?3 AND availability = 'READY' AND priority = ?4 AND ?5 < key
UNION ALL
SELECT key, priority FROM jobs
WHERE partition = ?1 AND job_type = ?2 AND tenant = ?3 AND availability = 'READY' AND priority < ?4
ORDER BY priority DESC, key LIMIT ?6
