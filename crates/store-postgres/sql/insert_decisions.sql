-- The decisions of new DMN files. $1 partition, then a column each.
INSERT INTO decisions (partition, key, requirements, place, id, version, name, version_tag, tenant, deleted)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::bigint[], $4::integer[], $5::text[], $6::integer[], $7::text[], $8::text[], $9::text[],
    $10::boolean[]) AS given
