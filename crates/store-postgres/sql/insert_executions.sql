-- New work that belongs to no process. $1 partition, then a column each.
INSERT INTO jobs (partition, key, priority, state, availability, due, retries, worker, deadline, error_code, error_message,
    failed_with_retries_left, updated, ended, denied, dispatched, result, attempts, started, job_type, tenant, created, group_key, input, unique_key,
    unique_until, headers)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::integer[], $4::text[], $5::text[], $6::bigint[], $7::integer[], $8::text[], $9::bigint[], $10::text[],
    $11::text[], $12::boolean[], $13::bigint[], $14::bigint[], $15::text[], $16::bigint[], $17::text[], $18::integer[],
    $19::bigint[], $20::text[], $21::text[], $22::bigint[], $23::text[], $24::text[], $25::text[], $26::bigint[], $27::text[]) AS given
