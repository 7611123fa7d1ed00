INSERT INTO answers (partition, position, kind, at, answer, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
