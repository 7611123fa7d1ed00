SELECT key FROM batch_operations AS b
WHERE partition = ?1 AND ended < ?2 AND NOT EXISTS (SELECT 1 FROM batch_items AS i WHERE i.batch = b.key) ORDER BY ended LIMIT ?3
