-- What became of items. $1 partition, then a column each. (Why OFFSET 0 and ANY: see commit/mod.rs.)
UPDATE batch_items AS t
SET state = given.state, processed = given.processed, error = given.error
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::text[], $4::bigint[], $5::text[]) AS given (key, state, processed, error)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
