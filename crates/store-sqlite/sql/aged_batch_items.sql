-- Those of the first operation to end first.
SELECT i.key FROM batch_operations AS b CROSS JOIN batch_items AS i ON i.batch = b.key
WHERE b.partition = ?1 AND b.ended < ?2 ORDER BY b.ended LIMIT ?3
