-- Evaluations with all they looked at. $1 partition, $2 keys.
DELETE FROM evaluated_decisions WHERE partition = $1 AND evaluation = ANY ($2::bigint[])
