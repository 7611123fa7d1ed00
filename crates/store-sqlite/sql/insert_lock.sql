INSERT INTO message_locks (partition, tenant, process_id, correlation_key, instance) VALUES (?1, ?2, ?3, ?4, ?5)
