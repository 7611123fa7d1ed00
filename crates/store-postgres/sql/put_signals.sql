-- Signals that begin or have come further. $1 partition, then a column each.
INSERT INTO signals (partition, key, tenant, name, variables, after, due)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::text[], $5::bytea[], $6::bigint[], $7::bigint[]) AS given
ON CONFLICT (partition, key) DO UPDATE SET after = excluded.after, due = excluded.due
