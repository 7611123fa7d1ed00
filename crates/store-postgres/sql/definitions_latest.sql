-- The latest not deleted version of every process id and tenant. $1 partition.
WHERE d.partition = $1 AND NOT d.deleted AND NOT EXISTS (
    SELECT FROM definitions later
    WHERE later.partition = d.partition AND later.tenant = d.tenant AND later.process_id = d.process_id
      AND later.version > d.version AND NOT later.deleted
)
ORDER BY d.process_id, d.tenant
