-- Jobs of listeners, and what is happening to user tasks.
-- Breaks older servers: they would take the jobs for an element's own work.

-- What a job listens to; absent where it is an element's own work.
ALTER TABLE jobs ADD COLUMN kind text COLLATE "C";
-- Why a listener refused; absent where it did not.
ALTER TABLE jobs ADD COLUMN denied text COLLATE "C";

-- What is happening to a user task while others listen.
ALTER TABLE user_tasks ADD COLUMN transition bytea;
DROP INDEX user_tasks_by_instance;
CREATE INDEX user_tasks_by_instance ON user_tasks (instance, (ended IS NULL));
