SELECT key, wait, instance, element_instance, definition, tenant, element, kind, text, armed, number, due, state, created, ended
FROM timers WHERE partition = ?1 AND instance = ?2 AND state = 'PENDING'
ORDER BY key
