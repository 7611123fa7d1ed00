-- Remove timers that were fired or cancelled, a bounded number. $1 partition, $2 before this time, $3 limit.
DELETE FROM timers AS t
USING (
    SELECT ctid AS place FROM timers
    WHERE partition + 0 = $1 AND ended < $2
    ORDER BY ended
    LIMIT $3
) AS ended
WHERE t.ctid = ended.place
RETURNING 1
