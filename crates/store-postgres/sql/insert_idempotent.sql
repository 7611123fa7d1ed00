-- First answers. An expired one with the same key may still be there and gives way. $1 partition, then a column each.
INSERT INTO idempotent (partition, tenant, key, fingerprint, position, answer, expires)
SELECT $1, given.*
FROM UNNEST($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bigint[]) AS given
ON CONFLICT (partition, tenant, key) DO UPDATE
SET fingerprint = excluded.fingerprint, position = excluded.position, answer = excluded.answer, expires = excluded.expires
