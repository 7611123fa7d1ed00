-- Where a task belongs never changes.
UPDATE user_tasks
SET state = ?3, assignee = ?4, candidate_groups = ?5, candidate_users = ?6, due = ?7, follow_up = ?8, priority = ?9, ended = ?10,
    transition = ?11
WHERE partition = ?1 AND key = ?2
