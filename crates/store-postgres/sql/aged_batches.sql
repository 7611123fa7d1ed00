-- Operations that are over and have no items. $1 partition, $2 before this time, $3 limit. There are few, so they are all looked at.
SELECT b.ctid AS place FROM batch_operations AS b
WHERE b.partition = $1 AND b.ended < $2 AND NOT EXISTS (SELECT 1 FROM batch_items AS i WHERE i.batch = b.key) LIMIT $3
