-- Those who were candidates of tasks that changed, and are not any more. $1 partition, $2 tasks, then of all their candidates the task,
-- the kind and the name.
-- (Why OFFSET 0 and ANY: see commit/mod.rs.)
DELETE FROM user_task_candidates AS c
USING (SELECT $1 AS partition, given.task FROM UNNEST($2::bigint[]) AS given (task) OFFSET 0) AS given
WHERE c.partition = ANY (ARRAY[given.partition]) AND c.task = given.task
  AND (c.task, c.kind, c.name) NOT IN (SELECT * FROM UNNEST($3::bigint[], $4::text[], $5::text[]))
