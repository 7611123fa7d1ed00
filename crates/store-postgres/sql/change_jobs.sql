-- Jobs that changed; the rest of a job never does. $1 partition, then a column each.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
UPDATE jobs AS t
SET priority = given.priority, state = given.state, availability = given.availability, due = given.due, retries = given.retries,
    worker = given.worker, deadline = given.deadline, error_code = given.error_code, error_message = given.error_message,
    failed_with_retries_left = given.failed_with_retries_left, updated = given.updated, ended = given.ended,
    denied = given.denied, dispatched = given.dispatched
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::integer[], $4::text[], $5::text[], $6::bigint[], $7::integer[], $8::text[], $9::bigint[], $10::text[],
        $11::text[], $12::boolean[], $13::bigint[], $14::bigint[], $15::text[], $16::bigint[])
        AS given (key, priority, state, availability, due, retries, worker, deadline, error_code, error_message,
            failed_with_retries_left, updated, ended, denied, dispatched)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
