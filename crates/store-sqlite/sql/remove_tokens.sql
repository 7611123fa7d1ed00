DELETE FROM tokens WHERE partition = ?1 AND instance = ?2 AND scope = ?3 AND gateway = ?4 AND flow = ?5
