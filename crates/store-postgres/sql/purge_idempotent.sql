-- Remove expired first answers, a bounded number. $1 partition, $2 now, $3 limit.
WITH expired AS (
    SELECT tenant, key FROM idempotent
    WHERE partition = $1 AND expires <= $2
    ORDER BY expires
    LIMIT $3
)
DELETE FROM idempotent i USING expired
WHERE i.partition = $1 AND i.tenant = expired.tenant AND i.key = expired.key AND i.expires <= $2
RETURNING 1
