INSERT INTO messages (partition, key, tenant, name, correlation_key, message_id, variables, published, expires, taken_by)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
