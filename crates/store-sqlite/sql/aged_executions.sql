SELECT key FROM jobs INDEXED BY jobs_over
WHERE partition = ?1 AND instance IS NULL AND ended < ?2 AND availability = 'DONE' AND coalesce(unique_until < ?2, TRUE)
ORDER BY ended LIMIT ?3
