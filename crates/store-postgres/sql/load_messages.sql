-- Messages by key that have not expired. $1 partition, $2 keys, $3 now.
SELECT m.key, m.tenant, m.name, m.correlation_key, m.message_id, m.variables, m.published, m.expires, m.taken_by
FROM (SELECT DISTINCT $1 AS partition, UNNEST($2::bigint[]) AS key) AS asked
CROSS JOIN LATERAL (SELECT * FROM messages WHERE partition = asked.partition AND key = asked.key OFFSET 0) AS m
WHERE m.expires > $3
ORDER BY m.key
