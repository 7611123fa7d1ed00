-- Messages of a name and correlation key that have not expired, which is asked of the rows found.
-- $1 partition, $2 tenants, $3 names, $4 correlation keys, $5 limit of each, $6 now. The last column says which was asked for.
SELECT m.key, m.tenant, m.name, m.correlation_key, m.message_id, m.variables, m.published, m.expires, m.taken_by, asked.place
FROM (
    SELECT $1 AS partition, asked.*
    FROM UNNEST($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS asked (tenant, name, correlation_key, place)
) AS asked
CROSS JOIN LATERAL (
    SELECT * FROM (
        SELECT * FROM messages
        WHERE tenant = asked.tenant AND name = asked.name AND correlation_key = asked.correlation_key
          AND partition - 0 = asked.partition
        ORDER BY key - 0
        OFFSET 0
    ) AS found
    WHERE found.expires > $6
    LIMIT $5
) AS m
ORDER BY asked.place, m.key
