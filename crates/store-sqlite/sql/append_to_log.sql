INSERT INTO log (place, kind, at, instance, events) VALUES ((?1 << 51) + ?2, ?3, ?4, ?5, ?6)
