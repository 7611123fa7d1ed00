-- Documents, links and parts as they are purged, each up to a number. $1 now, $2 before which time parts came, $3 limit.
SELECT
    (SELECT count(*) FROM (SELECT 1 FROM documents WHERE expires <= $1 LIMIT $3) AS over)
    + (SELECT count(*) FROM (
        SELECT 1 FROM document_links AS l
        WHERE expires <= $1 AND NOT EXISTS (SELECT 1 FROM documents WHERE tenant = l.tenant AND id = l.id AND expires <= $1)
        LIMIT $3
    ) AS links)
    + (SELECT count(*) FROM (
        SELECT 1 FROM document_parts AS p WHERE at <= $2 AND NOT EXISTS (SELECT 1 FROM documents WHERE upload = p.upload) LIMIT $3
    ) AS parts)
