SELECT key FROM subscriptions WHERE partition = ?1 AND updated < ?2 AND state <> 'CREATED' ORDER BY updated LIMIT ?3
