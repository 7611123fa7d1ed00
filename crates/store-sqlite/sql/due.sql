-- Of each kind those of the same time with a later key, then those of later times: each a range of an index, read no further than is
-- asked for. What has no instance is a job.
SELECT due, key, NULL AS instance FROM jobs WHERE partition = ?1 AND due = ?2 AND ?3 < key
UNION ALL
SELECT due, key, NULL FROM jobs WHERE partition = ?1 AND ?2 < due
UNION ALL
SELECT due, key, instance FROM turns WHERE partition = ?1 AND due = ?2 AND ?3 < key
UNION ALL
SELECT due, key, instance FROM turns WHERE partition = ?1 AND ?2 < due
ORDER BY due, key LIMIT ?4
