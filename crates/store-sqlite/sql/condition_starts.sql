SELECT key, kind, name, correlation_key, child, tenant, definition, process_id, element, catches, instance, element_instance, state,
    created, updated
FROM subscriptions INDEXED BY subscriptions_starting
WHERE state = 'CREATED' AND instance IS NULL AND kind = 'CONDITION' AND partition = ?1 AND tenant = ?2
ORDER BY key LIMIT ?3
