DELETE FROM {table} WHERE key IN (SELECT key FROM {table} WHERE partition = ?1 AND instance = ?2 LIMIT ?3)
