-- What else people find the tasks of their groups by (ADR 40).
-- Breaks older servers: they do not say when a candidate's task is claimed or becomes more urgent.

-- Copied from the tasks, and kept like them. In no index: a claim changes the row in place.
ALTER TABLE user_task_candidates
    ADD COLUMN free boolean NOT NULL DEFAULT true,
    ADD COLUMN priority integer NOT NULL DEFAULT 50;
UPDATE user_task_candidates AS c SET free = u.assignee IS NULL, priority = u.priority
FROM user_tasks AS u
WHERE u.partition = c.partition AND u.key = c.task AND (u.assignee IS NOT NULL OR u.priority <> 50);
