-- All versions of a form. $1 partition, $2 id, $3 tenant.
SELECT key, id, version, version_tag, tenant, resource, resource_name, deployment, checksum, deleted
FROM forms WHERE partition = $1 AND id = $2 AND tenant = $3
ORDER BY version
