-- Element instances that wait for messages of a name and correlation key; start events, which are told apart among the
-- rows found, are asked for by the name alone.
-- $1 partition, $2 tenants, $3 names, $4 correlation keys, $5 limit of each. The last column says which was asked for.
SELECT s.key, s.instance, s.element_instance, s.definition, s.tenant, s.element, s.state, s.kind, s.created,
    s.name, s.correlation_key, s.child, s.process_id, s.catches, s.updated, asked.place
FROM (
    SELECT $1 AS partition, asked.*
    FROM UNNEST($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS asked (tenant, name, correlation_key, place)
) AS asked
CROSS JOIN LATERAL (
    SELECT * FROM (
        SELECT * FROM subscriptions
        WHERE partition + 0 = asked.partition AND kind = 'MESSAGE' AND tenant = asked.tenant
          AND (CASE WHEN state = 'CREATED' AND kind IN ('MESSAGE', 'SIGNAL') THEN name END) = asked.name
          AND correlation_key = asked.correlation_key
        ORDER BY key + 0
        OFFSET 0
    ) AS found
    WHERE found.instance IS NOT NULL
    LIMIT $5
) AS s
ORDER BY asked.place, s.key
