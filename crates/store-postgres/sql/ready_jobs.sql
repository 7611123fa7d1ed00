-- Jobs of one type and tenant that wait for a worker, the higher priority first, then the lower key.
-- $1 partition, $2 type, $3 tenant, $4 and $5 after this priority and key, $6 limit.
-- The rest of the priority where the window stopped, then lower ones: each a range of the index.
(
    SELECT key, priority FROM jobs
    WHERE partition + 0 = $1 AND job_type = $2 AND tenant = $3 AND priority = $4
      AND (CASE WHEN availability = 'READY' THEN key END) > $5
    ORDER BY (CASE WHEN availability = 'READY' THEN key END)
    LIMIT $6
)
UNION ALL
(
    SELECT key, priority FROM jobs
    WHERE partition + 0 = $1 AND job_type = $2 AND tenant = $3 AND priority < $4
      AND (CASE WHEN availability = 'READY' THEN key END) IS NOT NULL
    ORDER BY priority DESC, (CASE WHEN availability = 'READY' THEN key END)
    LIMIT $6
)
ORDER BY priority DESC, key
LIMIT $6
