-- The latest not deleted version of every id and tenant. $1 partition.
WHERE r.partition = $1 AND NOT r.deleted AND NOT EXISTS (
    SELECT FROM requirements later
    WHERE later.partition = r.partition AND later.tenant = r.tenant AND later.id = r.id
      AND later.version > r.version AND NOT later.deleted
)
ORDER BY r.id, r.tenant
