-- New jobs. $1 partition, then a column each.
INSERT INTO jobs (partition, key, priority, state, availability, due, retries, worker, deadline, error_code, error_message,
    failed_with_retries_left, updated, ended, denied, dispatched, instance, definition, element, element_instance, job_type, tenant, created, headers,
    kind, group_key)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::integer[], $4::text[], $5::text[], $6::bigint[], $7::integer[], $8::text[], $9::bigint[], $10::text[],
    $11::text[], $12::boolean[], $13::bigint[], $14::bigint[], $15::text[], $16::bigint[], $17::bigint[], $18::bigint[],
    $19::integer[], $20::bigint[], $21::text[], $22::text[], $23::bigint[], $24::text[], $25::text[], $26::text[]) AS given
