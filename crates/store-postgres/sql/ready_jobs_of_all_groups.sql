-- As ready_jobs.sql, with the group.
-- $1 partition, $2 type, $3 tenant, $4 and $5 after this priority and key, $6 limit.
(
    SELECT key, priority, group_key FROM jobs
    WHERE partition + 0 = $1 AND job_type = $2 AND tenant = $3 AND priority = $4
      AND (CASE WHEN availability = 'READY' THEN key END) > $5
    ORDER BY (CASE WHEN availability = 'READY' THEN key END)
    LIMIT $6
)
UNION ALL
(
    SELECT key, priority, group_key FROM jobs
    WHERE partition + 0 = $1 AND job_type = $2 AND tenant = $3 AND priority < $4
      AND (CASE WHEN availability = 'READY' THEN key END) IS NOT NULL
    ORDER BY priority DESC, (CASE WHEN availability = 'READY' THEN key END)
    LIMIT $6
)
ORDER BY priority DESC, key
LIMIT $6
