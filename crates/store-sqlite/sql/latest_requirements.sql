SELECT partition, key, id, version, name, tenant, resource, resource_name, deployment, checksum, deleted
FROM requirements AS r
WHERE partition = ?1 AND version =
    (SELECT max(version) FROM requirements AS v
     WHERE v.partition = ?1 AND v.id = r.id AND v.tenant = r.tenant AND NOT v.deleted)
