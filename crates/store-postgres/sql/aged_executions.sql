-- Executions that are over. $1 partition, $2 before this time, $3 limit.
SELECT ctid AS place FROM jobs
WHERE partition + 0 = $1 AND (CASE WHEN instance IS NULL THEN ended END) < $2 AND availability = 'DONE'
    AND coalesce(unique_until < $2, TRUE)
ORDER BY (CASE WHEN instance IS NULL THEN ended END)
LIMIT $3
