UPDATE incidents SET resolved = ?3 WHERE partition = ?1 AND key = ?2
