INSERT INTO decisions (partition, key, requirements, place, id, version, name, version_tag, tenant, deleted)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
