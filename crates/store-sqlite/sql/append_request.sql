INSERT INTO inbox (partition, position, kind, at, expires, request, total) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
