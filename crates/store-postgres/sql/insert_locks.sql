-- Locks of instances that messages started. $1 partition, then a column each.
INSERT INTO message_locks (partition, tenant, process_id, correlation_key, instance)
SELECT $1, given.*
FROM UNNEST($2::text[], $3::text[], $4::text[], $5::bigint[]) AS given
