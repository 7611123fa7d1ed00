INSERT OR REPLACE INTO compensations (partition, key, instance, scope, activity) VALUES (?1, ?2, ?3, ?4, ?5)
