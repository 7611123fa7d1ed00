-- The candidates of tasks that are new or changed, once each. $1 partition, then a column each.
INSERT INTO user_task_candidates AS c (partition, task, kind, name, open, tenant, created)
SELECT $1, given.*
FROM (SELECT DISTINCT * FROM UNNEST($2::bigint[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::bigint[])) AS given
ON CONFLICT (partition, task, kind, name) DO UPDATE SET open = excluded.open WHERE c.open <> excluded.open
