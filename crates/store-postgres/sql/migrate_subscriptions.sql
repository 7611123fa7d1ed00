-- Rows of instances that have migrated. $1 partition, then a column each.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
UPDATE subscriptions AS t
SET definition = given.definition, element = given.element, process_id = given.process_id
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::bigint[], $4::integer[], $5::text[]) AS given (key, definition, element, process_id)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
