-- Pending timers by key. $1 partition, $2 keys.
SELECT t.key, t.instance, t.element_instance, t.definition, t.tenant, t.element, t.state, t.kind, t.created,
    t.wait, t.text, t.armed, t.number, t.due, t.ended
FROM (SELECT DISTINCT $1 AS partition, UNNEST($2::bigint[]) AS key) AS asked
CROSS JOIN LATERAL (SELECT * FROM timers WHERE partition = asked.partition AND key = asked.key OFFSET 0) AS t
WHERE t.state = 'PENDING'
ORDER BY t.key
