SELECT key, scope, activity FROM compensations WHERE partition = ?1 AND instance = ?2 ORDER BY key
