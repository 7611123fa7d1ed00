-- Where waiting counts as priority: no index has this order, so all of the queue are looked at. ?4 how long a wait is worth one priority,
-- ?5 and ?6 after this rank and key, ?7 limit, ?8 whether of one group only, ?9 which.
SELECT key, rank, group_key FROM (
    SELECT key, priority * ?4 - created AS rank, group_key FROM jobs
    WHERE partition = ?1 AND job_type = ?2 AND tenant = ?3 AND availability = 'READY' AND (?8 = 0 OR group_key IS ?9)
)
WHERE rank < ?5 OR (rank = ?5 AND ?6 < key)
ORDER BY rank DESC, key LIMIT ?7
