-- What happens by itself, by time. $1 partition, $2 and $3 after this time and key, $4 limit.
-- Of each kind no more than are asked for, from its index.
(
    SELECT due, key, 'JOB' AS what, NULL::bigint AS instance FROM jobs
    WHERE partition + 0 = $1 AND (due, key) > ($2, $3) AND due IS NOT NULL
    ORDER BY due, key
    LIMIT $4
)
UNION ALL
(
    SELECT due, key, 'TURN', instance FROM turns
    WHERE partition + 0 = $1 AND (due, key + 0) > ($2, $3)
    ORDER BY due, key + 0
    LIMIT $4
)
UNION ALL
(
    SELECT due, key, 'TIMER', instance FROM timers
    WHERE partition + 0 = $1 AND ((CASE WHEN state = 'PENDING' THEN due END), key + 0) > ($2, $3)
      AND (CASE WHEN state = 'PENDING' THEN due END) IS NOT NULL
    ORDER BY (CASE WHEN state = 'PENDING' THEN due END), key + 0
    LIMIT $4
)
UNION ALL
(
    SELECT expires, key, 'MESSAGE', NULL FROM messages
    WHERE partition + 0 = $1 AND (expires, key + 0) > ($2, $3)
    ORDER BY expires, key + 0
    LIMIT $4
)
UNION ALL
(
    SELECT due, key, 'SIGNAL', NULL FROM signals
    WHERE partition + 0 = $1 AND (due, key + 0) > ($2, $3)
    ORDER BY due, key + 0
    LIMIT $4
)
UNION ALL
(
    SELECT due, key, 'BATCH', NULL FROM batch_operations
    WHERE partition + 0 = $1 AND (due, key + 0) > ($2, $3) AND due IS NOT NULL
    ORDER BY due, key + 0
    LIMIT $4
)
UNION ALL
(
    SELECT due, key, 'SCHEDULE', NULL FROM schedules
    WHERE partition + 0 = $1 AND (due, key + 0) > ($2, $3) AND due IS NOT NULL
    ORDER BY due, key + 0
    LIMIT $4
)
ORDER BY due, key
LIMIT $4
