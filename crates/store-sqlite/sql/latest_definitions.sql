SELECT partition, key, process_id, version, name, version_tag, tenant, resource, resource_name, deployment, checksum, deleted
FROM definitions AS d
WHERE partition = ?1 AND version =
    (SELECT max(version) FROM definitions AS v
     WHERE v.partition = ?1 AND v.process_id = d.process_id AND v.tenant = d.tenant AND NOT v.deleted)
