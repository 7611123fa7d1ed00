-- Expired answers. $1 partition, $2 now, $3 limit.
SELECT ctid AS place FROM answers WHERE partition + 0 = $1 AND expires <= $2 ORDER BY expires LIMIT $3
