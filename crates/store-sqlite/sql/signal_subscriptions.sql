SELECT key, kind, name, correlation_key, child, tenant, definition, process_id, element, catches, instance, element_instance, state,
    created, updated
FROM subscriptions
WHERE partition = ?1 AND tenant = ?2 AND name = ?3 AND ?4 < key AND key <= ?5 AND state = 'CREATED' AND kind = 'SIGNAL'
ORDER BY key LIMIT ?6
