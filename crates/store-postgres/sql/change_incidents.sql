-- Incidents that are resolved. $1 partition, then a column each. (Why LIMIT: see commit/mod.rs.)
UPDATE incidents AS t
SET resolved = given.resolved
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::bigint[])
        AS given (key, resolved)
    LIMIT cardinality($2)
) AS given
WHERE t.partition = given.partition AND t.key = given.key
