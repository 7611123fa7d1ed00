SELECT key, wait, instance, element_instance, definition, tenant, element, kind, text, armed, number, due, state, created, ended
FROM timers WHERE definition = ?1 AND state = 'PENDING' AND instance IS NULL
ORDER BY key
