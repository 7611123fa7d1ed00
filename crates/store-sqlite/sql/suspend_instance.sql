UPDATE instances SET suspended = ?3 WHERE partition = ?1 AND key = ?2
