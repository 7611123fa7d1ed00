-- Remove correlations, a bounded number. $1 partition, $2 before this time, $3 limit.
DELETE FROM message_correlations AS t
USING (
    SELECT ctid AS place FROM message_correlations
    WHERE partition + 0 = $1 AND at < $2
    ORDER BY at
    LIMIT $3
) AS ended
WHERE t.ctid = ended.place
RETURNING 1
