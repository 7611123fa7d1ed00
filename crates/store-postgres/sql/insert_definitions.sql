-- New versions of processes. $1 partition, then a column each.
INSERT INTO definitions (partition, key, process_id, version, name, version_tag, tenant, resource, resource_name, deployment, checksum, deleted, flows,
    start_form, start_form_binding)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::bigint[],
    $11::bytea[], $12::boolean[], $13::bytea[], $14::text[], $15::text[]) AS given
