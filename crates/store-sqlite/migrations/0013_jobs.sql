-- Leases and progress of jobs, what is submitted again and again, and what has happened in queues.

-- Both are null for a job that was handed out once and said nothing: `leases` is the number of its last lease, `progress` a JSON object.
ALTER TABLE jobs ADD COLUMN leases INTEGER;
ALTER TABLE jobs ADD COLUMN progress TEXT;

-- Jobs that nobody tries any more.
CREATE INDEX jobs_stuck ON jobs (partition, key) WHERE availability = 'STUCK';

-- What is submitted again and again. `schedule` is all of it; `due` is null where there is no next time.
CREATE TABLE schedules (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    reference TEXT NOT NULL,
    action TEXT NOT NULL,
    cron TEXT NOT NULL,
    due INTEGER,
    schedule BLOB NOT NULL,
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX schedules_due ON schedules (partition, due, key) WHERE due IS NOT NULL;

-- What has happened in queues, as of `updated`. Times and percentiles are in milliseconds; `stats` is what it goes on from.
CREATE TABLE queue_stats (
    partition INTEGER NOT NULL,
    job_type TEXT NOT NULL,
    tenant TEXT NOT NULL,
    waiting INTEGER NOT NULL,
    running INTEGER NOT NULL,
    enqueued INTEGER NOT NULL,
    started INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    timed_out INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    wait_p50 INTEGER,
    wait_p95 INTEGER,
    wait_p99 INTEGER,
    run_p50 INTEGER,
    run_p95 INTEGER,
    run_p99 INTEGER,
    progressed INTEGER NOT NULL,
    stuck_since INTEGER,
    updated INTEGER NOT NULL,
    stats BLOB NOT NULL,
    PRIMARY KEY (partition, job_type, tenant)
) STRICT, WITHOUT ROWID;

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('jobs', 'jobs_stuck', '1000 1000 1'),
    ('schedules', 'schedules', '100 100 1'),
    ('schedules', 'schedules_due', '100 100 1 1'),
    ('queue_stats', 'queue_stats', '100 100 2 1');
ANALYZE sqlite_schema;
