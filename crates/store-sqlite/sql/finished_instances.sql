-- By end and key, after a place in that order. ?1 partition, ?2 and ?3 the place, ?4 before this time, ?5 limit.
SELECT i.key, i.ended, d.process_id, d.tenant, i.parent_instance IS NOT NULL
FROM instances AS i
JOIN definitions AS d ON d.key = i.definition
WHERE i.ended >= ?2 AND i.ended < ?4 AND (i.ended > ?2 OR i.key > ?3) AND +i.partition = ?1
ORDER BY i.ended, i.key
LIMIT ?5
