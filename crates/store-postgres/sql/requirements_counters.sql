-- The highest version ever given for each id and tenant. $1 partition.
SELECT id, tenant, max(version) AS version FROM requirements
WHERE partition = $1
GROUP BY id, tenant
ORDER BY id, tenant
