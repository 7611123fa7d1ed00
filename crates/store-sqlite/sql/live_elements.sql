SELECT key, definition, element, scope, phase, started, ended, incident, progress
FROM elements WHERE partition = ?1 AND instance = ?2 AND state = 'ACTIVE'
ORDER BY key
