SELECT key, id, version, version_tag, tenant, resource, resource_name, deployment, checksum, deleted
FROM forms WHERE partition = ?1 AND key = ?2
