UPDATE subscriptions SET state = ?3, updated = ?4 WHERE partition = ?1 AND key = ?2
