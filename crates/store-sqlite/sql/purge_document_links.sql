DELETE FROM document_links
WHERE token IN (SELECT token FROM document_links WHERE expires <= ?1 ORDER BY expires LIMIT ?2)
