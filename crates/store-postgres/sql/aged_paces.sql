-- Starts that make no difference any more. $1 partition, $2 now, $3 limit.
-- There are as many as groups that policies limit, so they are all looked at.
SELECT ctid AS place FROM paces WHERE partition = $1 AND until <= $2 LIMIT $3
