-- Commands after a position that are not processed yet, in order. $1 partition, $2 position, $3 limit.
SELECT position, request FROM log
WHERE partition = $1 AND position > greatest($2, (SELECT processed_to FROM partitions WHERE partition = $1))
ORDER BY position
LIMIT $3
