-- Batch operations go in the order in which they have ended.
-- Does not break older servers.

CREATE INDEX batch_operations_by_end ON batch_operations (partition, ended, key) WHERE ended IS NOT NULL;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('batch_operations', 'batch_operations_by_end', '1000 1000 2 1');
ANALYZE sqlite_schema;
