SELECT key, kind, name, correlation_key, child, tenant, definition, process_id, element, catches, instance, element_instance, state,
    created, updated
FROM subscriptions WHERE definition = ?1 AND state = 'CREATED' AND instance IS NULL
ORDER BY key
