-- Element instances and variables of instances and of all they have called, each counted up to a bound, in the order given. $1 partition, $2 instances, $3 bound.
SELECT e.rows + v.rows
FROM UNNEST($2::bigint[]) WITH ORDINALITY AS given (key, place)
CROSS JOIN LATERAL (
    SELECT count(*) AS rows FROM (
        SELECT 1
        FROM (
            SELECT given.key
            UNION ALL
            SELECT key FROM instances WHERE (CASE WHEN parent_instance IS NOT NULL THEN root END) = given.key
        ) AS its (key)
        CROSS JOIN LATERAL (SELECT 1 FROM elements WHERE partition = $1 AND instance = its.key OFFSET 0) AS e
        LIMIT $3
    ) AS counted
) AS e
CROSS JOIN LATERAL (
    SELECT count(*) AS rows FROM (
        SELECT 1
        FROM (
            SELECT given.key
            UNION ALL
            SELECT key FROM instances WHERE (CASE WHEN parent_instance IS NOT NULL THEN root END) = given.key
        ) AS its (key)
        CROSS JOIN LATERAL (SELECT 1 FROM variables WHERE partition = $1 AND instance = its.key OFFSET 0) AS v
        LIMIT $3
    ) AS counted
) AS v
ORDER BY given.place
