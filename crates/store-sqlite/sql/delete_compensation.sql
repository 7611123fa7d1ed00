DELETE FROM compensations WHERE partition = ?1 AND key = ?2
