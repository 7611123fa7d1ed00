-- A document, unless there is one with its id that has not expired. $1 tenant, $2 id, $3 upload, $4 size, $5 hash, $6 name, $7 type,
-- $8 created, $9 expires, $10 process, $11 instance (arrays of one), $12 properties.
INSERT INTO documents (tenant, id, upload, size, hash, file_name, content_type, created, expires, process_id, instance, properties)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, ($9::bigint[])[1], ($10::text[])[1], ($11::bigint[])[1], $12)
ON CONFLICT (tenant, id) DO NOTHING
RETURNING 1
