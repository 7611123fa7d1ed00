-- Instances that are suspended, or are not any more. $1 partition, $2 keys, $3 since when.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
UPDATE instances AS t
SET suspended = given.since
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::bigint[]) AS given (key, since)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
