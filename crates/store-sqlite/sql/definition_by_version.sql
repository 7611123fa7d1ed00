SELECT partition, key, process_id, version, name, version_tag, tenant, resource, resource_name, deployment, checksum, deleted, flows,
    start_form, start_form_binding
FROM definitions WHERE partition = ?1 AND process_id = ?2 AND tenant = ?3 AND version = ?4
