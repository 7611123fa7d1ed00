-- Subscriptions that ended. $1 partition, $2 before this time, $3 limit.
SELECT ctid AS place FROM subscriptions
WHERE partition + 0 = $1 AND (CASE WHEN state <> 'CREATED' THEN updated END) < $2
ORDER BY (CASE WHEN state <> 'CREATED' THEN updated END)
LIMIT $3
