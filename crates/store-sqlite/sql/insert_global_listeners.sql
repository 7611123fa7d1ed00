INSERT INTO global_listeners (partition, version, listeners, changed, changed_by) VALUES (?1, ?2, ?3, ?4, ?5)
