-- First answers, expired ones too: a condition on the time would let the index of expiry serve. $1 partition, $2 tenants, $3 keys.
SELECT i.tenant, i.key, i.fingerprint, i.position, i.answer, i.expires
FROM (SELECT $1 AS partition, asked.* FROM UNNEST($2::text[], $3::text[]) AS asked (tenant, key)) AS asked
CROSS JOIN LATERAL (
    SELECT * FROM idempotent WHERE partition = asked.partition AND tenant = asked.tenant AND key = asked.key OFFSET 0
) AS i
