-- New incidents. $1 partition, then a column each.
INSERT INTO incidents (partition, key, instance, definition, element, element_instance, job, kind, message, message_hash, created, resolved)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::bigint[], $4::bigint[], $5::integer[], $6::bigint[], $7::bigint[], $8::text[], $9::text[],
    $10::integer[], $11::bigint[], $12::bigint[]) AS given
