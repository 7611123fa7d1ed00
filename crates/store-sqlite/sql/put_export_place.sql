INSERT INTO export_places (partition, name, position) VALUES (?1, ?2, ?3)
ON CONFLICT (partition, name) DO UPDATE SET position = max(position, excluded.position)
