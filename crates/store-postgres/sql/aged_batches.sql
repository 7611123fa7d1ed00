-- Operations that are over and have no items. $1 partition, $2 before this time, $3 limit. (Written so that each is asked for one item.)
SELECT b.ctid AS place FROM batch_operations AS b
WHERE b.partition + 0 = $1 AND b.ended < $2 AND (SELECT 1 FROM batch_items AS i WHERE i.batch = b.key LIMIT 1) IS NULL
ORDER BY b.ended LIMIT $3
