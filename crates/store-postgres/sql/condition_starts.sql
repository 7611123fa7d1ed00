-- Open start conditions, by key. All start events are few, so they are looked through. $1 partition, $2 tenant, $3 limit.
SELECT s.key, s.instance, s.element_instance, s.definition, s.tenant, s.element, s.state, s.kind, s.created,
    s.name, s.correlation_key, s.child, s.process_id, s.catches, s.updated
FROM subscriptions AS s
WHERE (CASE WHEN instance IS NULL AND state = 'CREATED' THEN definition END) IS NOT NULL AND kind = 'CONDITION' AND partition = $1
  AND tenant = $2
ORDER BY key + 0
LIMIT $3
