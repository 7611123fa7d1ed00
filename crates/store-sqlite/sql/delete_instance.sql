DELETE FROM instances WHERE partition = ?1 AND key = ?2
