-- What people find their tasks by (ADR 40).
-- Does not break older servers: candidates they write are as old as their row.

-- Copied from the tasks, where they never change: the tasks of a group are counted and sorted without them.
ALTER TABLE user_task_candidates
    ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '<default>',
    ADD COLUMN created bigint NOT NULL DEFAULT (extract(epoch FROM now()) * 1000)::bigint;
UPDATE user_task_candidates AS c SET tenant = u.tenant, created = u.created
FROM user_tasks AS u WHERE u.partition = c.partition AND u.key = c.task;

DROP INDEX user_task_candidates_by_name;
CREATE INDEX user_task_candidates_by_name ON user_task_candidates (name, kind, created);
DROP INDEX user_task_candidates_open_by_name;
CREATE INDEX user_task_candidates_open_by_name ON user_task_candidates ((CASE WHEN open THEN name END), kind, created);

-- The newest that are open. (As with assignees. Neither partial nor by state: before there are statistics few seem to be open.)
CREATE INDEX user_tasks_open_by_creation ON user_tasks ((CASE WHEN state = 'CREATED' THEN created END));

-- Of a few definitions most rows are: without statistics a search by one seems to find few. A table of less than fifty rows is never
-- analyzed unless it is said here.
ALTER TABLE definitions SET (autovacuum_analyze_threshold = 0);
ALTER TABLE definition_elements SET (autovacuum_analyze_threshold = 0);
ANALYZE definitions, definition_elements, user_tasks, user_task_candidates;
