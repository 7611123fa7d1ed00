-- Evaluations with all they looked at. $1 partition, $2 keys. (Why partition + 0: see migration 3.)
DELETE FROM evaluated_decisions WHERE partition + 0 = $1 AND evaluation = ANY ($2::bigint[])
