SELECT key, definition, element, scope, phase, started, ended, incident
FROM elements WHERE partition = ?1 AND instance = ?2 AND state = 'ACTIVE'
ORDER BY key
