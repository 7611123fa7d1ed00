-- Versions of policies. $1 partition, then a column each.
INSERT INTO policies (partition, reference, version, policy, changed, changed_by)
SELECT $1, given.* FROM UNNEST($2::text[], $3::integer[], $4::bytea[], $5::bigint[], $6::text[]) AS given
