SELECT id, tenant, key, requirements
FROM decisions AS d
WHERE partition = ?1 AND version =
    (SELECT max(version) FROM decisions AS v
     WHERE v.partition = ?1 AND v.id = d.id AND v.tenant = d.tenant AND NOT v.deleted)
