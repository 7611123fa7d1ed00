-- Locks by name. $1 partition, $2 tenants, $3 process ids, $4 correlation keys.
SELECT l.tenant, l.process_id, l.correlation_key, l.instance
FROM (
    SELECT $1 AS partition, asked.* FROM UNNEST($2::text[], $3::text[], $4::text[]) AS asked (tenant, process_id, correlation_key)
) AS asked
CROSS JOIN LATERAL (
    SELECT * FROM message_locks
    WHERE partition = asked.partition AND tenant = asked.tenant AND process_id = asked.process_id
      AND correlation_key = asked.correlation_key
    OFFSET 0
) AS l
