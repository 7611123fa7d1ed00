SELECT count(*), coalesce(sum(octet_length(payload)), 0) FROM dispatch_outbox WHERE partition = ?1
