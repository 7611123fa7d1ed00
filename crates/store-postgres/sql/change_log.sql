-- Commands that waited in the log, with what became of them. $1 partition, then a column each. (Why LIMIT: see commit/mod.rs.)
UPDATE log AS t
SET instance = given.instance, events = given.events, answer = given.answer
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[])
        AS given (position, instance, events, answer)
    LIMIT cardinality($2)
) AS given
WHERE t.partition = given.partition AND t.position = given.position
