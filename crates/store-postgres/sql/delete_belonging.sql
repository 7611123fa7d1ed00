-- {instances}: which ones; {limit}: at most so many rows. (Why OFFSET 0: see commit/mod.rs.)
    DELETE FROM {table} AS t
    USING (
        SELECT o.place
        FROM {instances} AS given (instance)
        CROSS JOIN LATERAL (SELECT ctid AS place FROM {table} WHERE instance = given.instance OFFSET 0) AS o
        LIMIT {limit}
    ) AS old
    WHERE t.ctid = old.place
    RETURNING 1
