-- $1 instances, $2 limit.
WITH gone AS (
    DELETE FROM {table} AS t
    USING (
        SELECT o.place
        FROM UNNEST($1) AS given (instance)
        CROSS JOIN LATERAL (SELECT ctid AS place FROM {table} WHERE instance = given.instance OFFSET 0) AS o
        LIMIT $2
    ) AS old
    WHERE t.ctid = old.place
    RETURNING 1
)
SELECT count(*) FROM gone
