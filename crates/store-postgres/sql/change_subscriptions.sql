-- Subscriptions that changed. $1 partition, then a column each.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
UPDATE subscriptions AS t
SET state = given.state, updated = given.updated
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::text[], $4::bigint[]) AS given (key, state, updated)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
