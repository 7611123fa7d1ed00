SELECT key, step FROM turns WHERE partition = ?1 AND instance = ?2
