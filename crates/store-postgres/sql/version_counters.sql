-- The highest version ever given for each process id and tenant. $1 partition.
SELECT process_id, tenant, max(version) AS version FROM definitions
WHERE partition = $1
GROUP BY process_id, tenant
ORDER BY process_id, tenant
