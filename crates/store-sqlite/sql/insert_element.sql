INSERT INTO elements (partition, key, instance, definition, element, scope, state, phase, started, ended, incident, progress)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
