-- There are few operations, so they are all looked at.
SELECT i.key FROM batch_operations AS b JOIN batch_items AS i ON i.batch = b.key WHERE b.partition = ?1 AND b.ended < ?2 LIMIT ?3
