-- Parts that came before a time and belong to no document.
DELETE FROM document_parts
WHERE rowid IN (
    SELECT rowid FROM document_parts AS p
    WHERE at <= ?1 AND NOT EXISTS (SELECT 1 FROM documents WHERE upload = p.upload)
    ORDER BY at LIMIT ?2
)
