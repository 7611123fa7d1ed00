-- Leased and backing-off jobs by time. $1 partition, $2 and $3 after this time and key, $4 limit.
SELECT key, due FROM jobs
WHERE partition = $1 AND due IS NOT NULL AND (due, key) > ($2, $3)
ORDER BY due, key
LIMIT $4
