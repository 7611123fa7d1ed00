-- What encloses an element that got stuck or was freed, and what has called that, counts it. $1 partition, then keys of incidents and by
-- how much each changes the count, if it is open: those to be resolved are until the statement after this.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
WITH RECURSIVE above (incident, more, key) AS (
    SELECT given.key, given.more, found.element_instance
    FROM (SELECT * FROM UNNEST($2::bigint[], $3::integer[]) AS given (key, more) OFFSET 0) AS given
    CROSS JOIN LATERAL (
        SELECT element_instance FROM incidents WHERE partition = ANY (ARRAY[$1]) AND key = given.key AND resolved IS NULL OFFSET 0
    ) AS found
    UNION
    SELECT above.incident, above.more, outer_of.key
    FROM above
    CROSS JOIN LATERAL (
        (SELECT scope FROM elements WHERE partition = ANY (ARRAY[$1]) AND key = above.key OFFSET 0)
        UNION ALL
        (SELECT parent_element FROM instances
         WHERE partition = ANY (ARRAY[$1]) AND key = above.key AND parent_element IS NOT NULL OFFSET 0)
    ) AS outer_of (key)
)
UPDATE instances AS t
SET stuck = NULLIF(COALESCE(t.stuck, 0) + given.more, 0)
FROM (SELECT $1 AS partition, key, sum(more)::integer AS more FROM above GROUP BY key OFFSET 0) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
