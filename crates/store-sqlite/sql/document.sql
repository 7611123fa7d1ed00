SELECT tenant, id, upload, size, hash, file_name, content_type, created, expires, process_id, instance, properties
FROM documents WHERE tenant = ?1 AND id = ?2
