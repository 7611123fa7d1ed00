SELECT key, kind, name, correlation_key, child, tenant, definition, process_id, element, catches, instance, element_instance, state,
    created, updated
FROM subscriptions WHERE partition = ?1 AND instance = ?2 AND state = 'CREATED'
ORDER BY key
