DELETE FROM user_task_candidates
WHERE partition = ?1 AND task IN (SELECT key FROM user_tasks WHERE partition = ?1 AND instance = ?2)
