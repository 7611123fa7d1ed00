-- New variables. $1 partition, then a column each.
INSERT INTO variables (partition, key, instance, definition, scope, name, value)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[]) AS given
