-- One more line: see `words::tags_text`.
UPDATE messages SET taken_by = taken_by || ?3 WHERE partition = ?1 AND key = ?2
