DELETE FROM user_task_candidates WHERE partition = ?1 AND task = ?2
