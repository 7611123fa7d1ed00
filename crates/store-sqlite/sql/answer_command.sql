UPDATE log SET instance = ?3, events = ?4, answer = ?5 WHERE partition = ?1 AND position = ?2
