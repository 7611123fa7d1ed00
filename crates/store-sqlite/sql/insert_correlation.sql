INSERT INTO message_correlations
    (partition, key, message, subscription, tenant, name, correlation_key, definition, process_id, instance, root, element,
     element_instance, at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
