-- Leases and progress of jobs.

-- Both are null for a job that was handed out once and said nothing: `leases` is the number of its last lease, `progress` a JSON object.
ALTER TABLE jobs ADD COLUMN leases INTEGER;
ALTER TABLE jobs ADD COLUMN progress TEXT;

-- Jobs that nobody tries any more.
CREATE INDEX jobs_stuck ON jobs (partition, key) WHERE availability = 'STUCK';

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('jobs', 'jobs_stuck', '1000 1000 1');
ANALYZE sqlite_schema;
