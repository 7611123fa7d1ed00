DELETE FROM evaluated_decisions WHERE partition = ?1 AND instance = ?2
