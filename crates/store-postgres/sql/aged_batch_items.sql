-- Items of operations that are over, those of the first to end first. $1 partition, $2 before this time, $3 limit.
-- (Written so that the items of one operation after the other are read, and none of those that are not over.)
SELECT i.place
FROM (SELECT key, ended FROM batch_operations WHERE partition + 0 = $1 AND ended < $2) AS b
CROSS JOIN LATERAL (SELECT ctid AS place FROM batch_items WHERE batch = b.key ORDER BY batch, key LIMIT $3) AS i
ORDER BY b.ended LIMIT $3
