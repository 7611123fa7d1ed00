-- Open subscriptions to a signal, by key. $1 partition, $2 tenant, $3 name, $4 after this key, $5 up to this one, $6 limit.
SELECT s.key, s.instance, s.element_instance, s.definition, s.tenant, s.element, s.state, s.kind, s.created,
    s.name, s.correlation_key, s.child, s.process_id, s.catches, s.updated
FROM subscriptions AS s
WHERE partition + 0 = $1 AND kind = 'SIGNAL' AND tenant = $2
  AND (CASE WHEN state = 'CREATED' AND kind IN ('MESSAGE', 'SIGNAL') THEN name END) = $3
  AND correlation_key = '' AND key + 0 > $4 AND key + 0 <= $5
ORDER BY key + 0
LIMIT $6
