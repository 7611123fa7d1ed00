-- Open subscriptions by key. $1 partition, $2 keys.
SELECT s.key, s.instance, s.element_instance, s.definition, s.tenant, s.element, s.state, s.kind, s.created,
    s.name, s.correlation_key, s.child, s.process_id, s.catches, s.updated
FROM (SELECT DISTINCT $1 AS partition, UNNEST($2::bigint[]) AS key) AS asked
CROSS JOIN LATERAL (SELECT * FROM subscriptions WHERE partition = asked.partition AND key = asked.key OFFSET 0) AS s
WHERE s.state = 'CREATED'
ORDER BY s.key
