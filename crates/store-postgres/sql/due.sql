-- Leases, back-offs and turns by time. $1 partition, $2 and $3 after this time and key, $4 limit.
-- Of each kind no more than are asked for, from its index. What has no instance is a job.
(
    SELECT due, key, NULL::bigint AS instance FROM jobs
    WHERE partition + 0 = $1 AND (due, key) > ($2, $3) AND due IS NOT NULL
    ORDER BY due, key
    LIMIT $4
)
UNION ALL
(
    SELECT due, key, instance FROM turns
    WHERE partition + 0 = $1 AND (due, key + 0) > ($2, $3)
    ORDER BY due, key + 0
    LIMIT $4
)
ORDER BY due, key
LIMIT $4
