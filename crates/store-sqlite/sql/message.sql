SELECT key, tenant, name, correlation_key, message_id, variables, published, expires, taken_by
FROM messages WHERE partition = ?1 AND key = ?2 AND ?3 < +expires
