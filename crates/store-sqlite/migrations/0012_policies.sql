-- When jobs of a queue were started, where a policy says how fast they may: one row for all of them, or for each group.
CREATE TABLE paces (
    partition INTEGER NOT NULL,
    job_type TEXT NOT NULL,
    tenant TEXT NOT NULL,
    bucket TEXT NOT NULL,
    starts BLOB NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (partition, job_type, tenant, bucket)
) STRICT, WITHOUT ROWID;

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('paces', 'paces', '10000 10000 1000 500 1');
ANALYZE sqlite_schema;
