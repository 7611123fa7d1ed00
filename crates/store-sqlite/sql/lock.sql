SELECT tenant, process_id, correlation_key, instance FROM message_locks
WHERE partition = ?1 AND tenant = ?2 AND process_id = ?3 AND correlation_key = ?4
