-- Instances that changed. $1 partition, then a column each.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
UPDATE instances AS t
SET state = given.state, phase = given.phase, ended = given.ended
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::text[], $4::smallint[], $5::bigint[])
        AS given (key, state, phase, ended)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
