DELETE FROM instance_tags
WHERE (partition, tag, instance) IN (SELECT partition, tag, instance FROM instance_tags WHERE instance = ?1 LIMIT ?2)
