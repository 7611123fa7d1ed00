INSERT INTO incidents
    (partition, key, instance, definition, element, element_instance, job, kind, message, message_hash, created, resolved)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
