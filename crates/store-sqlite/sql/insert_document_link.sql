INSERT INTO document_links (token, tenant, id, expires) VALUES (?1, ?2, ?3, ?4)
