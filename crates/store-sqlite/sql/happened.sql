SELECT position, at, instance, events FROM log WHERE partition = ?1 AND position > ?2 ORDER BY position LIMIT ?3
