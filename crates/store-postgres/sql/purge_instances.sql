-- $1 partition, $2 instances of which nothing is left.
WITH gone AS (
    DELETE FROM instances AS t
    USING (
        SELECT i.place
        FROM UNNEST($2) AS given (key)
        CROSS JOIN LATERAL (SELECT ctid AS place FROM instances WHERE partition = $1 AND key = given.key OFFSET 0) AS i
    ) AS old
    WHERE t.ctid = old.place
    RETURNING 1
)
SELECT count(*) FROM gone
