-- Breaking: jobs of listeners, which older servers would take for an element's own work, and what is happening to user tasks.

-- What a job listens to; absent where it is an element's own work.
ALTER TABLE jobs ADD COLUMN kind TEXT;
-- Why a listener refused; absent where it did not.
ALTER TABLE jobs ADD COLUMN denied TEXT;

-- What is happening to a user task while others listen.
ALTER TABLE user_tasks ADD COLUMN transition BLOB;
DROP INDEX user_tasks_waiting;
CREATE INDEX user_tasks_waiting ON user_tasks (partition, instance) WHERE ended IS NULL;

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('user_tasks', 'user_tasks_waiting', '10000 10000 2');
ANALYZE sqlite_schema;
