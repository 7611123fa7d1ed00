INSERT INTO documents
    (tenant, id, upload, size, hash, file_name, content_type, created, expires, process_id, instance, properties)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
