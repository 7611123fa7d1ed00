UPDATE variables SET value = ?3 WHERE partition = ?1 AND key = ?2
