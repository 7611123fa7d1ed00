-- User tasks that changed; the rest of one never does. $1 partition, then a column each.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
UPDATE user_tasks AS t
SET state = given.state, assignee = given.assignee, candidate_groups = given.candidate_groups,
    candidate_users = given.candidate_users, due = given.due, follow_up = given.follow_up, priority = given.priority,
    ended = given.ended, transition = given.transition
FROM (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::integer[],
        $10::bigint[], $11::bytea[])
        AS given (key, state, assignee, candidate_groups, candidate_users, due, follow_up, priority, ended, transition)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
