-- What waits and runs, whatever the history: each part from the index of what is alive.
SELECT job_type, tenant, sum(ready), sum(scheduled), sum(running), min(waits_since) FROM (
    SELECT job_type, tenant, 1 AS ready, 0 AS scheduled, 0 AS running, created AS waits_since
    FROM jobs WHERE partition = ?1 AND availability = 'READY'
    UNION ALL
    SELECT job_type, tenant, 0, availability = 'BACKING_OFF', availability = 'LEASED',
        CASE availability WHEN 'BACKING_OFF' THEN created END
    FROM jobs WHERE partition = ?1 AND due IS NOT NULL
)
GROUP BY job_type, tenant ORDER BY job_type, tenant
