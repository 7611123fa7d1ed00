-- Jobs of processes by their state, in the order of their keys. (Does not break older servers.)

-- Most have completed: those are found by going through all.
CREATE INDEX jobs_by_state ON jobs (state) WHERE state <> 'COMPLETED' AND instance IS NOT NULL;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('jobs', 'jobs_by_state', '10000 2000');
ANALYZE sqlite_schema;
