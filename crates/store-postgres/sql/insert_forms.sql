-- New versions of forms. $1 partition, then a column each.
INSERT INTO forms (partition, key, id, version, version_tag, tenant, resource, resource_name, deployment, checksum, deleted)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::bigint[], $10::bytea[],
    $11::boolean[]) AS given
