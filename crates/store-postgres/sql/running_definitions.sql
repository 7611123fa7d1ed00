-- Definitions with running instances, the busiest first. $1 partition, $2 limit.
SELECT definition FROM instances
WHERE partition = $1 AND state = 'ACTIVE'
GROUP BY definition
ORDER BY count(*) DESC, definition
LIMIT $2
