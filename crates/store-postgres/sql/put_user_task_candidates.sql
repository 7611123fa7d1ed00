-- The candidates of tasks that are new or changed, once each. $1 partition, then a column each.
INSERT INTO user_task_candidates AS c (partition, task, kind, name, open, tenant, created, free, priority)
SELECT $1, given.*
FROM (
    SELECT DISTINCT *
    FROM UNNEST($2::bigint[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::bigint[], $8::boolean[], $9::integer[])
) AS given
ON CONFLICT (partition, task, kind, name) DO UPDATE SET open = excluded.open, free = excluded.free, priority = excluded.priority
WHERE (c.open, c.free, c.priority) <> (excluded.open, excluded.free, excluded.priority)
