DELETE FROM user_tasks WHERE partition = ?1 AND instance = ?2
