SELECT key FROM message_correlations WHERE partition = ?1 AND at < ?2 ORDER BY at LIMIT ?3
