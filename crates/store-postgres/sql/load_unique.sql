-- The newest execution with each unique key. $1 partition, then tenants, actions and unique keys.
SELECT asked.tenant, asked.action, asked.name, j.key, j.unique_until
FROM (
    SELECT DISTINCT $1 AS partition, given.*
    FROM UNNEST($2::text[], $3::text[], $4::text[]) AS given (tenant, action, name)
) AS asked
CROSS JOIN LATERAL (
    SELECT key, unique_until FROM jobs
    WHERE partition + 0 = asked.partition AND tenant = asked.tenant AND job_type = asked.action AND unique_key = asked.name
    ORDER BY key DESC
    LIMIT 1
) AS j
ORDER BY asked.tenant COLLATE "C", asked.action COLLATE "C", asked.name COLLATE "C"
