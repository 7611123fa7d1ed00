UPDATE timers SET definition = ?3, element = ?4 WHERE partition = ?1 AND key = ?2
