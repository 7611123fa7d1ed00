-- Timers that changed; the rest of a timer never does. $1 partition, then a column each.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
UPDATE timers AS t
SET state = given.state, due = given.due, ended = given.ended
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::text[], $4::bigint[], $5::bigint[]) AS given (key, state, due, ended)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
