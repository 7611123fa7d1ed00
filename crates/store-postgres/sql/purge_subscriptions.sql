-- Remove subscriptions that ended, a bounded number. $1 partition, $2 before this time, $3 limit.
DELETE FROM subscriptions AS t
USING (
    SELECT ctid AS place FROM subscriptions
    WHERE partition + 0 = $1 AND (CASE WHEN state <> 'CREATED' THEN updated END) < $2
    ORDER BY (CASE WHEN state <> 'CREATED' THEN updated END)
    LIMIT $3
) AS ended
WHERE t.ctid = ended.place
RETURNING 1
