INSERT INTO subscriptions
    (partition, key, kind, name, correlation_key, child, tenant, definition, process_id, element, catches, instance,
     element_instance, state, created, updated)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
