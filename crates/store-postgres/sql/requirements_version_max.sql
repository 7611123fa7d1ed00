-- The highest version ever given. $1 partition, $2 tenant, $3 id.
SELECT max(version) FROM requirements WHERE partition = $1 AND tenant = $2 AND id = $3
