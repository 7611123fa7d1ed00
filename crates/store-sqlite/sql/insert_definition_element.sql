INSERT INTO definition_elements (partition, definition, element, id, name, kind, headers) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
