SELECT key, due FROM jobs
WHERE partition = ?1 AND due IS NOT NULL AND (due, key) > (?2, ?3)
ORDER BY due, key LIMIT ?4
