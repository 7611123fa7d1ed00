UPDATE instances SET state = ?3, phase = ?4, ended = ?5, tokens = ?6, incidents = ?7 WHERE partition = ?1 AND key = ?2
