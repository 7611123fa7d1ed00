-- New jobs. $1 partition, then a column each.
INSERT INTO jobs (partition, key, state, availability, due, retries, worker, deadline, error_code, error_message, failed_with_retries_left,
    updated, ended, instance, definition, element, element_instance, job_type, tenant, created)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::integer[], $7::text[], $8::bigint[], $9::text[], $10::text[],
    $11::boolean[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::integer[], $17::bigint[], $18::text[],
    $19::text[], $20::bigint[]) AS given
