UPDATE instances SET definition = ?3 WHERE partition = ?1 AND key = ?2
