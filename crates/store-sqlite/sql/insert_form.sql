INSERT INTO forms (partition, key, id, version, version_tag, tenant, resource, resource_name, deployment, checksum, deleted)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
