-- What people find their tasks by (ADR 40). (Breaks older servers: they do not say whose and how old a candidate's task is.)

-- Copied from the tasks, where they never change: the tasks of a group are counted and sorted without them.
CREATE TABLE user_task_candidates_new (
    partition INTEGER NOT NULL,
    task      INTEGER NOT NULL,
    kind      TEXT NOT NULL,
    name      TEXT NOT NULL,
    open      INTEGER NOT NULL,
    tenant    TEXT NOT NULL,
    created   INTEGER NOT NULL,
    PRIMARY KEY (partition, task, kind, name)
) STRICT, WITHOUT ROWID;

INSERT INTO user_task_candidates_new (partition, task, kind, name, open, tenant, created)
SELECT c.partition, c.task, c.kind, c.name, c.open, u.tenant, u.created
FROM user_task_candidates AS c CROSS JOIN user_tasks AS u ON u.key = c.task;

DROP TABLE user_task_candidates;
ALTER TABLE user_task_candidates_new RENAME TO user_task_candidates;

CREATE INDEX user_task_candidates_by_name ON user_task_candidates (kind, name, open, task, tenant);
CREATE INDEX user_task_candidates_by_creation ON user_task_candidates (kind, name, open, created, task, tenant);
-- The newest that are open.
CREATE INDEX user_tasks_open_by_creation ON user_tasks (created) WHERE state = 'CREATED';

DELETE FROM sqlite_stat1 WHERE tbl = 'user_task_candidates';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('user_task_candidates', 'user_task_candidates', '2000000 2000000 2 2 1'),
    ('user_task_candidates', 'user_task_candidates_by_name', '2000000 1000000 2000 200 1 1'),
    ('user_task_candidates', 'user_task_candidates_by_creation', '2000000 1000000 2000 200 2 1 1'),
    ('user_tasks', 'user_tasks_open_by_creation', '10000 2');
ANALYZE sqlite_schema;
