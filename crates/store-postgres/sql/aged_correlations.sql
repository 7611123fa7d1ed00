-- Correlations. $1 partition, $2 before this time, $3 limit.
SELECT ctid AS place FROM message_correlations WHERE partition + 0 = $1 AND at < $2 ORDER BY at LIMIT $3
