-- Start events have no correlation key.
SELECT key, kind, name, correlation_key, child, tenant, definition, process_id, element, catches, instance, element_instance, state,
    created, updated
FROM subscriptions
WHERE partition = ?1 AND tenant = ?2 AND name = ?3 AND correlation_key = '' AND state = 'CREATED' AND kind = 'MESSAGE'
    AND instance IS NULL
ORDER BY key LIMIT ?4
