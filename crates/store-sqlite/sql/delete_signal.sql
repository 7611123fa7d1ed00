DELETE FROM signals WHERE partition = ?1 AND key = ?2
