-- Expired documents with their parts and links, a bounded number. $1 now, $2 limit.
WITH over AS (
    SELECT tenant, id FROM documents WHERE expires <= $1 ORDER BY expires LIMIT $2
), gone AS (
    DELETE FROM documents WHERE (tenant, id) IN (SELECT tenant, id FROM over)
    RETURNING tenant, id, upload
), parts AS (
    DELETE FROM document_parts WHERE upload IN (SELECT upload FROM gone)
), links AS (
    DELETE FROM document_links WHERE (tenant, id) IN (SELECT tenant, id FROM gone)
)
SELECT 1 FROM gone
