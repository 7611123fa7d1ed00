DELETE FROM variables WHERE partition = ?1 AND instance = ?2
