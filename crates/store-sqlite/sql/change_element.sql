UPDATE elements SET state = ?3, phase = ?4, ended = ?5, incident = ?6, progress = coalesce(?7, progress) WHERE partition = ?1 AND key = ?2
