-- Element instances that wait for a message; start events are asked for by the name alone.
SELECT key, kind, name, correlation_key, child, tenant, definition, process_id, element, catches, instance, element_instance, state,
    created, updated
FROM subscriptions
WHERE partition = ?1 AND tenant = ?2 AND name = ?3 AND correlation_key = ?4 AND state = 'CREATED' AND kind = 'MESSAGE'
    AND instance IS NOT NULL
ORDER BY key LIMIT ?5
