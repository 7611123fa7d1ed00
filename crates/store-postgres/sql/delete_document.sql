-- A document with its parts and links, if it expires no later than a time. $1 tenant, $2 id, $3 the time.
WITH gone AS (
    DELETE FROM documents WHERE tenant = $1 AND id = $2 AND coalesce(expires, 9223372036854775807) <= $3
    RETURNING tenant, id, upload, expires
), parts AS (
    DELETE FROM document_parts WHERE upload IN (SELECT upload FROM gone)
), links AS (
    DELETE FROM document_links WHERE (tenant, id) IN (SELECT tenant, id FROM gone)
)
SELECT expires FROM gone
