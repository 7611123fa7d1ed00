-- First answers that have not expired. $1 partition, $2 tenants, $3 keys, $4 now.
SELECT i.tenant, i.key, i.fingerprint, i.position, i.answer, i.expires
FROM (
    SELECT $1 AS partition, asked.* FROM UNNEST($2::text[], $3::text[]) AS asked (tenant, key) LIMIT cardinality($2)
) AS asked
JOIN idempotent i ON i.partition = asked.partition AND i.tenant = asked.tenant AND i.key = asked.key
WHERE i.expires > $4
