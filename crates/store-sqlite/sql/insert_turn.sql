INSERT INTO turns (partition, key, instance, due, step) VALUES (?1, ?2, ?3, ?4, ?5)
