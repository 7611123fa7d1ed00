-- Element instances that are alive are counted by their index alone (ADR 100).
-- Breaks older servers: SQLite's are never opened by them once it is applied.

DROP INDEX elements_live;
CREATE INDEX elements_live ON elements (partition, instance, key, definition, element) WHERE state = 'ACTIVE';

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('elements', 'elements_live', '2000 2000 2 1 1 1');
ANALYZE sqlite_schema;
