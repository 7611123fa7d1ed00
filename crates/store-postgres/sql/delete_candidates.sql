-- Candidates of tasks, before the tasks. {instances}: which ones; {limit}: at most so many rows.
    DELETE FROM user_task_candidates AS t
    USING (
        SELECT c.place
        FROM {instances} AS given (instance)
        CROSS JOIN LATERAL (SELECT partition, key FROM user_tasks WHERE instance = given.instance OFFSET 0) AS u
        CROSS JOIN LATERAL (
            SELECT ctid AS place FROM user_task_candidates WHERE partition = u.partition AND task = u.key OFFSET 0
        ) AS c
        LIMIT {limit}
    ) AS old
    WHERE t.ctid = old.place
    RETURNING 1
