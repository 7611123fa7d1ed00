-- How far the log was told of; never back. $1 partition, $2 under which name, $3 up to where.
INSERT INTO export_places AS place (partition, name, position) VALUES ($1, $2, $3)
ON CONFLICT (partition, name) DO UPDATE SET position = excluded.position WHERE place.position < excluded.position
