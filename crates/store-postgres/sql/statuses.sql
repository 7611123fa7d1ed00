-- What became of commands. $1 partition, $2 positions.
SELECT l.position, l.kind, l.at, l.position <= p.processed_to AS processed, l.answer
FROM partitions p
JOIN log l ON l.partition = p.partition
WHERE p.partition = $1 AND l.partition = $1 AND l.position = ANY ($2)
ORDER BY l.position
