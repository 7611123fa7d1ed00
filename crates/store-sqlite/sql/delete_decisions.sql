UPDATE decisions SET deleted = 1 WHERE partition = ?1 AND requirements = ?2
