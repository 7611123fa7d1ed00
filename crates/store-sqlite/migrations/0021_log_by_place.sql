-- Breaking: a row of the log is found by one number, as rows of all other large tables are. Fewer pages are divided that way.

-- `place` has the partition above its lowest 51 bits and the position in them, as keys have.
CREATE TABLE log_new (
    place INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    instance INTEGER,
    events BLOB NOT NULL
) STRICT;

INSERT INTO log_new SELECT (partition << 51) + position, kind, at, instance, events FROM log ORDER BY partition, position;
DROP TABLE log;
ALTER TABLE log_new RENAME TO log;

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('log', NULL, '10000000');
ANALYZE sqlite_schema;
