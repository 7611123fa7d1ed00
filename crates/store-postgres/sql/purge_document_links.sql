-- Those of a document that is over go with it. $1 now, $2 limit.
DELETE FROM document_links
WHERE token IN (
    SELECT token FROM document_links AS l
    WHERE expires <= $1 AND NOT EXISTS (SELECT 1 FROM documents WHERE tenant = l.tenant AND id = l.id AND expires <= $1)
    ORDER BY expires LIMIT $2
)
RETURNING 1
