DELETE FROM elements WHERE partition = ?1 AND instance = ?2
