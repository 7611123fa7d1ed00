-- Variables that changed. $1 partition, then a column each. (Why LIMIT: see commit/mod.rs.)
UPDATE variables AS t
SET value = given.value
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::text[])
        AS given (key, value)
    LIMIT cardinality($2)
) AS given
WHERE t.partition = given.partition AND t.key = given.key
