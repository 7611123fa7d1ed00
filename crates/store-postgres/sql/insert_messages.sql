-- Messages to be kept. $1 partition, then a column each.
INSERT INTO messages (partition, key, tenant, name, correlation_key, message_id, variables, published, expires, taken_by)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::bigint[], $9::bigint[], $10::text[]) AS given
