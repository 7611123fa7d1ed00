SELECT key, element_instance FROM user_tasks WHERE partition = ?1 AND instance = ?2 AND ended IS NULL
