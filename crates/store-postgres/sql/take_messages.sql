-- Messages that were correlated to processes, maybe to several. $1 partition, $2 messages, $3 lines with ids of processes.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
UPDATE messages AS t
SET taken_by = t.taken_by || given.lines
FROM (
    SELECT $1 AS partition, given.key, string_agg(given.line, '' ORDER BY given.place) AS lines
    FROM UNNEST($2::bigint[], $3::text[]) WITH ORDINALITY AS given (key, line, place)
    GROUP BY given.key
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
