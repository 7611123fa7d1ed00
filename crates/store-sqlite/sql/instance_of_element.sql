SELECT instance FROM elements WHERE partition = ?1 AND key = ?2 AND state = 'ACTIVE'
