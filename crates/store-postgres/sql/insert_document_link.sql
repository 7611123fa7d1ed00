-- $1 token, $2 tenant, $3 id, $4 expires.
INSERT INTO document_links (token, tenant, id, expires) VALUES ($1, $2, $3, $4)
