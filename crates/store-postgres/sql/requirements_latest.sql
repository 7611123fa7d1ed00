-- The latest not deleted version. $1 partition, $2 tenant, $3 id.
WHERE r.partition = $1 AND r.tenant = $2 AND r.id = $3 AND NOT r.deleted
ORDER BY r.version DESC
LIMIT 1
