INSERT INTO instance_tags (partition, tag, instance) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING
