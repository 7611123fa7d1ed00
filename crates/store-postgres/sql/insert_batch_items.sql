-- New items. $1 partition, then a column each.
INSERT INTO batch_items (partition, key, batch, item, tenant, kind, instance, root, state, processed, error)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[], $10::bigint[],
    $11::text[]) AS given
