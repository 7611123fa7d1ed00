-- Decisions evaluated without a process. $1 partition, $2 before this time, $3 limit.
SELECT ctid AS place FROM evaluated_decisions
WHERE partition + 0 = $1 AND (CASE WHEN instance IS NULL THEN evaluated END) < $2
ORDER BY (CASE WHEN instance IS NULL THEN evaluated END)
LIMIT $3
