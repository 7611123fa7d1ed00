-- What became of requests of the inbox. $1 partition, then a column each.
INSERT INTO answers (partition, position, kind, at, answer, expires)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::bigint[], $5::bytea[], $6::bigint[]) AS given
