SELECT key, tenant, name, correlation_key, message_id, variables, published, expires, taken_by
FROM messages
WHERE partition = ?1 AND tenant = ?2 AND name = ?3 AND correlation_key = ?4 AND ?5 < +expires
ORDER BY key LIMIT ?6
