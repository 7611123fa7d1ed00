DELETE FROM evaluated_decisions WHERE partition = ?1 AND evaluation = ?2
