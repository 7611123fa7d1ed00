-- Requests after a position, in order. $1 partition, $2 position, $3 limit, $4 bytes, which the first may exceed.
WITH first AS MATERIALIZED (
    SELECT position, total - octet_length(request) AS before FROM inbox
    WHERE partition = $1 AND position > $2
    ORDER BY position LIMIT 1
)
SELECT i.position, i.request, i.at, i.expires
FROM first
CROSS JOIN LATERAL (
    SELECT * FROM inbox WHERE partition = $1 AND position > $2 ORDER BY position LIMIT $3
) AS i
WHERE i.position = first.position OR i.total - first.before <= $4
ORDER BY i.position
