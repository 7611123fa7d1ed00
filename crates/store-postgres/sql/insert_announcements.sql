-- What is to be announced. $1 partition, then a column each.
INSERT INTO dispatch_outbox (partition, key, job, instance, element_instance, job_type, tenant, retries, created, payload)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::integer[], $9::bigint[], $10::text[]) AS given
