-- Types and tenants with ready jobs. $1 partition, $2 limit.
-- Jumps through the index from one type to the next: a million ready jobs of one type cost one step.
WITH RECURSIVE found AS (
    (
        SELECT job_type, tenant FROM jobs
        WHERE partition = $1 AND availability = 'READY'
        ORDER BY job_type, tenant
        LIMIT 1
    )
    UNION ALL
    SELECT following.job_type, following.tenant
    FROM found, LATERAL (
        SELECT job_type, tenant FROM jobs
        WHERE partition = $1 AND availability = 'READY' AND (job_type, tenant) > (found.job_type, found.tenant)
        ORDER BY job_type, tenant
        LIMIT 1
    ) AS following
)
SELECT job_type, tenant FROM found LIMIT $2
