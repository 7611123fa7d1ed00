-- Instances that changed. $1 partition, then a column each. (Why LIMIT: see commit/mod.rs.)
UPDATE instances AS t
SET state = given.state, phase = given.phase, ended = given.ended, tokens = given.tokens, incidents = given.incidents
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::text[], $4::smallint[], $5::bigint[], $6::bytea[], $7::integer[])
        AS given (key, state, phase, ended, tokens, incidents)
    LIMIT cardinality($2)
) AS given
WHERE t.partition = given.partition AND t.key = given.key
