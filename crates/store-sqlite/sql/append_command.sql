INSERT INTO log (partition, position, kind, at, request) VALUES (?1, ?2, ?3, ?4, ?5)
