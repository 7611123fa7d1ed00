-- Expired first answers. $1 partition, $2 now, $3 limit. One that gets a new life meanwhile is in another place then, and stays.
SELECT ctid AS place FROM idempotent WHERE partition + 0 = $1 AND expires <= $2 ORDER BY expires LIMIT $3
