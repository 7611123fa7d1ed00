UPDATE timers SET state = ?3, due = ?4, ended = ?5 WHERE partition = ?1 AND key = ?2
