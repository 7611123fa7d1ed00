-- The latest not deleted version of every decision id and tenant. $1 partition.
SELECT d.id, d.tenant, d.key, d.requirements
FROM decisions d
WHERE d.partition = $1 AND NOT d.deleted AND NOT EXISTS (
    SELECT FROM decisions later
    WHERE later.partition = d.partition AND later.tenant = d.tenant AND later.id = d.id
      AND later.version > d.version AND NOT later.deleted
)
ORDER BY d.id, d.tenant
