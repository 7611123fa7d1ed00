INSERT INTO definitions
    (partition, key, process_id, version, name, version_tag, tenant, resource, resource_name, deployment, checksum, deleted,
     flows, start_form, start_form_binding)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
