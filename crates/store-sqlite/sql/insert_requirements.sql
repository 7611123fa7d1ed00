INSERT INTO requirements
    (partition, key, id, version, name, tenant, resource, resource_name, deployment, checksum, deleted)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
