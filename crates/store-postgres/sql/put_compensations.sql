-- Activities that can be undone, or that another scope can undo now. $1 partition, then a column each.
INSERT INTO compensations (partition, key, instance, scope, activity)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::bigint[], $4::bigint[], $5::integer[]) AS given
ON CONFLICT (partition, key) DO UPDATE SET scope = excluded.scope, activity = excluded.activity
