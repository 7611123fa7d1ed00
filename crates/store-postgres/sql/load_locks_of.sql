-- Locks that instances hold. $1 partition, $2 instances.
SELECT l.tenant, l.process_id, l.correlation_key, l.instance
FROM UNNEST($2::bigint[]) AS asked (instance)
CROSS JOIN LATERAL (SELECT * FROM message_locks WHERE instance = asked.instance OFFSET 0) AS l
WHERE l.partition = $1
