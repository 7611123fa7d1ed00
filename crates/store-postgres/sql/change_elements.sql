-- Element instances that changed. $1 partition, then a column each.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
UPDATE elements AS t
SET state = given.state, phase = given.phase, ended = given.ended, incident = given.incident, progress = COALESCE(given.progress, t.progress),
    past = given.past
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::text[], $4::smallint[], $5::bigint[], $6::bigint[], $7::text[], $8::boolean[])
        AS given (key, state, phase, ended, incident, progress, past)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
