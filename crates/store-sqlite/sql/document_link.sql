SELECT token, tenant, id, expires FROM document_links WHERE token = ?1 AND ?2 < expires
