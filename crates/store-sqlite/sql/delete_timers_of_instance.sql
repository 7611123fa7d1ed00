DELETE FROM timers WHERE partition = ?1 AND instance = ?2
