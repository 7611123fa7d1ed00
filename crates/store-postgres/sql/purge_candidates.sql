-- Candidates of tasks of $1 instances, before the tasks; $2 limit.
WITH gone AS (
    DELETE FROM user_task_candidates AS t
    USING (
        SELECT c.place
        FROM UNNEST($1) AS given (instance)
        CROSS JOIN LATERAL (SELECT partition, key FROM user_tasks WHERE instance = given.instance OFFSET 0) AS u
        CROSS JOIN LATERAL (
            SELECT ctid AS place FROM user_task_candidates WHERE partition = u.partition AND task = u.key OFFSET 0
        ) AS c
        LIMIT $2
    ) AS old
    WHERE t.ctid = old.place
    RETURNING 1
)
SELECT count(*) FROM gone
