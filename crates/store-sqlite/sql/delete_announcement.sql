DELETE FROM dispatch_outbox WHERE partition = ?1 AND key = ?2
