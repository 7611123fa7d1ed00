-- What waits and runs, by queue. $1 partition.
SELECT job_type, tenant, sum(ready)::bigint, sum(scheduled)::bigint, sum(running)::bigint, min(waits_since)
FROM (
    SELECT job_type, tenant, 1 AS ready, 0 AS scheduled, 0 AS running, created AS waits_since FROM jobs
    WHERE partition + 0 = $1 AND (CASE WHEN availability = 'READY' THEN key END) IS NOT NULL
    UNION ALL
    SELECT job_type, tenant, 0, (availability = 'BACKING_OFF')::integer, (availability = 'LEASED')::integer,
        CASE availability WHEN 'BACKING_OFF' THEN created END
    FROM jobs
    WHERE partition + 0 = $1 AND due IS NOT NULL
) AS alive
GROUP BY job_type, tenant
ORDER BY job_type, tenant
