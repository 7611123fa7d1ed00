-- Schedules that are new or have changed. $1 partition, then a column each.
INSERT INTO schedules (partition, key, tenant, reference, action, cron, due, schedule)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bytea[]) AS given
ON CONFLICT (partition, key) DO UPDATE
SET action = excluded.action, cron = excluded.cron, due = excluded.due, schedule = excluded.schedule
