-- Of each kind those of the same time with a later key, then those of later times: each a range of an index, read no further than is
-- asked for.
SELECT due AS due, key, 'JOB' AS what, NULL AS instance FROM jobs WHERE partition = ?1 AND due = ?2 AND ?3 < key
UNION ALL
SELECT due, key, 'JOB', NULL FROM jobs WHERE partition = ?1 AND ?2 < due
UNION ALL
SELECT due, key, 'TURN', instance FROM turns WHERE partition = ?1 AND due = ?2 AND ?3 < key
UNION ALL
SELECT due, key, 'TURN', instance FROM turns WHERE partition = ?1 AND ?2 < due
UNION ALL
SELECT due, key, 'TIMER', instance FROM timers WHERE partition = ?1 AND due = ?2 AND ?3 < key AND state = 'PENDING'
UNION ALL
SELECT due, key, 'TIMER', instance FROM timers WHERE partition = ?1 AND ?2 < due AND state = 'PENDING'
UNION ALL
SELECT expires, key, 'MESSAGE', NULL FROM messages WHERE partition = ?1 AND expires = ?2 AND ?3 < key
UNION ALL
SELECT expires, key, 'MESSAGE', NULL FROM messages WHERE partition = ?1 AND ?2 < expires
UNION ALL
SELECT due, key, 'SIGNAL', NULL FROM signals WHERE partition = ?1 AND due = ?2 AND ?3 < key
UNION ALL
SELECT due, key, 'SIGNAL', NULL FROM signals WHERE partition = ?1 AND ?2 < due
UNION ALL
SELECT due, key, 'BATCH', NULL FROM batch_operations WHERE partition = ?1 AND due = ?2 AND ?3 < key
UNION ALL
SELECT due, key, 'BATCH', NULL FROM batch_operations WHERE partition = ?1 AND ?2 < due
UNION ALL
SELECT due, key, 'SCHEDULE', NULL FROM schedules WHERE partition = ?1 AND due = ?2 AND ?3 < key
UNION ALL
SELECT due, key, 'SCHEDULE', NULL FROM schedules WHERE partition = ?1 AND ?2 < due
ORDER BY due, key LIMIT ?4
