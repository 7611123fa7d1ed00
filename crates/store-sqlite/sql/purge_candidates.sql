-- Before their tasks.
DELETE FROM user_task_candidates
WHERE (partition, task, kind, name) IN (
    SELECT c.partition, c.task, c.kind, c.name
    FROM user_tasks AS u
    CROSS JOIN user_task_candidates AS c ON c.partition = u.partition AND c.task = u.key
    WHERE u.partition = ?1 AND u.instance = ?2
    LIMIT ?3)
