INSERT INTO document_parts (upload, number, at, bytes) VALUES (?1, ?2, ?3, ?4)
