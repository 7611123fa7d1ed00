SELECT partition, key, id, version, name, tenant, resource, resource_name, deployment, checksum, deleted
FROM requirements WHERE partition = ?1 AND key = ?2
