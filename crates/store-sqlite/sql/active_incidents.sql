SELECT key, definition, element, element_instance, job, kind, message, created
FROM incidents WHERE partition = ?1 AND instance = ?2 AND resolved IS NULL
ORDER BY key
