INSERT INTO resources (partition, key, name, content, tenant) VALUES (?1, ?2, ?3, ?4, ?5)
