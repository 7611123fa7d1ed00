-- Open start events by the name of their message; they have no correlation key. $1 partition, $2 tenants, $3 names, $4 limit of each.
SELECT s.key, s.instance, s.element_instance, s.definition, s.tenant, s.element, s.state, s.kind, s.created,
    s.name, s.correlation_key, s.child, s.process_id, s.catches, s.updated
FROM (
    SELECT DISTINCT $1 AS partition, asked.* FROM UNNEST($2::text[], $3::text[]) AS asked (tenant, name)
) AS asked
CROSS JOIN LATERAL (
    SELECT * FROM subscriptions
    WHERE partition + 0 = asked.partition AND kind = 'MESSAGE' AND tenant = asked.tenant
      AND (CASE WHEN state = 'CREATED' AND kind IN ('MESSAGE', 'SIGNAL') THEN name END) = asked.name
      AND correlation_key = '' AND instance IS NULL
    ORDER BY key + 0
    LIMIT $4
) AS s
ORDER BY s.key
