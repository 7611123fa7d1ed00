DELETE FROM document_links WHERE tenant = ?1 AND id = ?2
