-- Finished instances with those they called, as far as these have finished too, and all their rows. $1 partition, $2 keys. What belongs to them has a part for each table.
WITH RECURSIVE doomed AS (
    SELECT i.key
    FROM UNNEST($2::bigint[]) AS given (key)
    CROSS JOIN LATERAL (SELECT * FROM instances WHERE partition = $1 AND key = given.key OFFSET 0) AS i
    WHERE i.ended IS NOT NULL
    UNION
    SELECT called.key
    FROM doomed
    CROSS JOIN LATERAL (SELECT key, ended FROM instances WHERE parent_instance = doomed.key OFFSET 0) AS called
    WHERE called.ended IS NOT NULL
), {belonging}
DELETE FROM instances AS t
USING (
    SELECT i.place
    FROM doomed
    CROSS JOIN LATERAL (SELECT ctid AS place FROM instances WHERE partition = $1 AND key = doomed.key OFFSET 0) AS i
) AS old
WHERE t.ctid = old.place
