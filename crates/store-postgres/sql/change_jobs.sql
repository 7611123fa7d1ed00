-- Jobs that changed; the rest of a job never does. $1 partition, then a column each. (Why LIMIT: see commit/mod.rs.)
UPDATE jobs AS t
SET state = given.state, availability = given.availability, due = given.due, retries = given.retries, worker = given.worker,
    deadline = given.deadline, error_code = given.error_code, error_message = given.error_message,
    failed_with_retries_left = given.failed_with_retries_left, updated = given.updated, ended = given.ended
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::integer[], $7::text[], $8::bigint[], $9::text[], $10::text[],
        $11::boolean[], $12::bigint[], $13::bigint[])
        AS given (key, state, availability, due, retries, worker, deadline, error_code, error_message, failed_with_retries_left,
            updated, ended)
    LIMIT cardinality($2)
) AS given
WHERE t.partition = given.partition AND t.key = given.key
