SELECT tenant, id, upload, size, hash, file_name, content_type, created, expires, process_id, instance, properties
FROM documents WHERE expires <= ?1 ORDER BY expires LIMIT ?2
