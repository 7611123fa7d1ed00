-- Steps that go on later. $1 partition, then a column each.
INSERT INTO turns (partition, key, instance, due, step)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[]) AS given
