INSERT INTO variables (partition, key, instance, definition, scope, name, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
