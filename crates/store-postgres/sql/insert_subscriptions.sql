-- New subscriptions. $1 partition, then a column each.
INSERT INTO subscriptions (partition, key, kind, name, correlation_key, child, tenant, definition, process_id, element, catches,
    instance, element_instance, state, created, updated)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::text[], $10::integer[], $11::boolean[], $12::bigint[], $13::bigint[], $14::text[], $15::bigint[], $16::bigint[]) AS given
