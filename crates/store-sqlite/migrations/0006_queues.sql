-- Work that belongs to no process, beside that of processes.

-- `group_key`: which of the groups that a policy tells apart. The others are null for jobs of processes.
ALTER TABLE jobs ADD COLUMN group_key TEXT;
ALTER TABLE jobs ADD COLUMN input TEXT;
ALTER TABLE jobs ADD COLUMN result TEXT;
ALTER TABLE jobs ADD COLUMN attempts INTEGER;
ALTER TABLE jobs ADD COLUMN started INTEGER;
ALTER TABLE jobs ADD COLUMN unique_key TEXT;
ALTER TABLE jobs ADD COLUMN unique_until INTEGER;

CREATE INDEX jobs_by_unique_key ON jobs (partition, tenant, job_type, unique_key, key) WHERE unique_key IS NOT NULL;

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('jobs', 'jobs_by_unique_key', '100000 100000 50000 10000 2 1');
ANALYZE sqlite_schema;
