DELETE FROM inbox WHERE partition = ?1 AND position <= ?2
