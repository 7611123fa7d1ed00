SELECT tenant, process_id, correlation_key, instance FROM message_locks WHERE partition = ?1 AND instance = ?2
