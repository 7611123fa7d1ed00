-- Deployed files. $1 partition, then a column each.
INSERT INTO resources (partition, key, name, content, tenant)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::bytea[], $5::text[]) AS given
