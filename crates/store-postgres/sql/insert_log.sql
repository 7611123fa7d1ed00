-- Commands with their outcome. $1 partition, then a column each.
INSERT INTO log (partition, position, kind, at, instance, events)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bytea[]) AS given
