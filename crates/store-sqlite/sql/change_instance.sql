UPDATE instances SET state = ?3, phase = ?4, ended = ?5 WHERE partition = ?1 AND key = ?2
