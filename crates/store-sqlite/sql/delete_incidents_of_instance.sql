DELETE FROM incidents WHERE partition = ?1 AND instance = ?2
