DELETE FROM message_correlations WHERE partition = ?1 AND instance = ?2
