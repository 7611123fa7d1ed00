SELECT key FROM evaluated_decisions WHERE partition = ?1 AND instance IS NULL AND evaluated < ?2 ORDER BY evaluated LIMIT ?3
