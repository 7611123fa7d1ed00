-- Remove expired answers, a bounded number. $1 partition, $2 now, $3 limit.
DELETE FROM answers AS t
USING (
    SELECT ctid AS place FROM answers
    WHERE partition + 0 = $1 AND expires <= $2
    ORDER BY expires
    LIMIT $3
) AS expired
WHERE t.ctid = expired.place
RETURNING 1
