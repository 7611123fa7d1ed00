-- What few jobs have: more than one lease, or something to say before they are done. $1 partition, then a column each.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
UPDATE jobs AS t
SET leases = given.leases, progress = given.progress
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::integer[], $4::text[]) AS given (key, leases, progress)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
