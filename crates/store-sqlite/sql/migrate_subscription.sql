UPDATE subscriptions SET definition = ?3, element = ?4, process_id = ?5 WHERE partition = ?1 AND key = ?2
