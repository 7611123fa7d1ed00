-- Operations over many that begin or have come further. $1 partition, then a column each.
INSERT INTO batch_operations
    (partition, key, tenant, kind, state, actor, started, ended, due, total, completed, failed, after, asked, error)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[],
    $11::bigint[], $12::bigint[], $13::bigint[], $14::bytea[], $15::text[]) AS given
ON CONFLICT (partition, key) DO UPDATE SET state = excluded.state, started = excluded.started, ended = excluded.ended,
    due = excluded.due, total = excluded.total, completed = excluded.completed, failed = excluded.failed, after = excluded.after,
    error = excluded.error
