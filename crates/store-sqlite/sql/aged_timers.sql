SELECT key FROM timers WHERE partition = ?1 AND ended < ?2 ORDER BY ended LIMIT ?3
