-- Where waiting counts as priority: no index has this order, so all of the queue are looked at.
-- $1 partition, $2 type, $3 tenant, $4 how long a wait is worth one priority, $5 and $6 after this rank and key, $7 limit,
-- $8 whether of one group only, $9 which, where it has a name.
SELECT key, rank, group_key
FROM (
    SELECT key, priority * $4::bigint - created AS rank, group_key FROM jobs
    WHERE partition + 0 = $1 AND job_type = $2 AND tenant = $3 AND (CASE WHEN availability = 'READY' THEN key END) IS NOT NULL
      AND ($8 = 0 OR group_key IS NOT DISTINCT FROM CASE WHEN $8 = 1 THEN NULL ELSE $9 END)
) AS aged
WHERE rank < $5 OR (rank = $5 AND $6 < key)
ORDER BY rank DESC, key
LIMIT $7
