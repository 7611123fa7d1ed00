-- Remove what makes no difference any more, a bounded number. $1 partition, $2 now, $3 limit.
-- There are as many as groups that policies limit, so they are all looked at.
DELETE FROM paces AS t
USING (
    SELECT ctid AS place FROM paces
    WHERE partition = $1 AND until <= $2
    LIMIT $3
) AS over
WHERE t.ctid = over.place
RETURNING 1
