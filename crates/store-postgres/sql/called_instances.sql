-- What instances have called, and what that has, the newest first: whatever was called is newer than who called it. $1 instances, $2 limit.
SELECT c.key, given.root, c.runs
FROM UNNEST($1) AS given (root)
CROSS JOIN LATERAL (
    SELECT key, ended IS NULL AS runs FROM instances
    WHERE (CASE WHEN parent_instance IS NOT NULL THEN root END) = given.root
    ORDER BY (CASE WHEN parent_instance IS NOT NULL THEN root END) DESC, key DESC
    LIMIT $2
) AS c
ORDER BY c.key DESC
LIMIT $2
