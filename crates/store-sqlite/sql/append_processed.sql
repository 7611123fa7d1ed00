INSERT INTO log (partition, position, kind, at, instance, events, answer) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
