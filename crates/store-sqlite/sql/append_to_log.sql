INSERT INTO log (partition, position, kind, at, instance, events) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
