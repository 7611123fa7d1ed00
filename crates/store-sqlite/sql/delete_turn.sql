DELETE FROM turns WHERE partition = ?1 AND key = ?2
