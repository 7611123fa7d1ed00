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

-- Of jobs with a group those that wait for a worker; the others are in `jobs_ready` alone.
CREATE INDEX jobs_ready_by_group ON jobs (partition, job_type, tenant, group_key, priority DESC, key)
    WHERE availability = 'READY' AND group_key IS NOT NULL;

-- Every version there ever was. `policy` is empty where it was deleted.
CREATE TABLE policies (
    partition INTEGER NOT NULL,
    reference TEXT NOT NULL,
    version INTEGER NOT NULL,
    policy BLOB NOT NULL,
    changed INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    PRIMARY KEY (partition, reference, version)
) STRICT, WITHOUT ROWID;

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('jobs', 'jobs_by_unique_key', '100000 100000 50000 10000 2 1'),
    ('jobs', 'jobs_ready_by_group', '10000 10000 1000 500 10 5 1'),
    ('policies', 'policies', '100 100 5 1');
ANALYZE sqlite_schema;
