-- What is to be announced. $1 partition, then a column each.
INSERT INTO dispatch_outbox (
    partition, key, job, instance, element_instance, job_type, tenant, retries, created, payload, lease, element_id, progress, trace
)
SELECT $1, given.*
FROM UNNEST(
    $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::integer[], $9::bigint[], $10::text[], $11::integer[],
    $12::text[], $13::text[], $14::text[]
) AS given
