-- Versions of those who listen to all user tasks. $1 partition, then a column each.
INSERT INTO global_listeners (partition, version, listeners, changed, changed_by)
SELECT $1, given.* FROM UNNEST($2::integer[], $3::bytea[], $4::bigint[], $5::text[]) AS given
