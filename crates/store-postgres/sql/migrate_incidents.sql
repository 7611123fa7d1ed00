-- Rows of instances that have migrated. $1 partition, then a column each.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
UPDATE incidents AS t
SET definition = given.definition, element = given.element
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::bigint[], $4::integer[]) AS given (key, definition, element)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
