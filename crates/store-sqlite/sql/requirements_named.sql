-- The versions of a name from the highest down to the first that is not deleted, which is mostly the highest.
SELECT partition, key, id, version, name, tenant, resource, resource_name, deployment, checksum, deleted
FROM requirements WHERE partition = ?1 AND id = ?2 AND tenant = ?3
ORDER BY version DESC
