-- What was correlated to what. $1 partition, then a column each.
INSERT INTO message_correlations (partition, key, message, subscription, tenant, name, correlation_key, definition, process_id, instance,
    root, element, element_instance, at)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::bigint[], $11::bigint[], $12::integer[], $13::bigint[], $14::bigint[]) AS given
