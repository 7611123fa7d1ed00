-- Parts that came before a time and belong to no document. $1 the time, $2 limit.
DELETE FROM document_parts
WHERE (upload, number) IN (
    SELECT upload, number FROM document_parts AS p
    WHERE at <= $1 AND NOT EXISTS (SELECT 1 FROM documents WHERE upload = p.upload)
    ORDER BY at LIMIT $2
)
RETURNING 1
