-- What retention and searches find by. (Nothing here breaks older servers, but they do not remove anything.)

-- The oldest first. An instance that ends writes one entry at the end of it: 17 bytes.
CREATE INDEX instances_by_end ON instances (ended) WHERE ended IS NOT NULL;
-- All that an instance has called, and what that has; none for those nobody called.
CREATE INDEX instances_called ON instances (root, key) WHERE parent_instance IS NOT NULL;
CREATE INDEX instance_tags_by_instance ON instance_tags (instance);
-- Nothing of these is of a process.
CREATE INDEX jobs_over ON jobs (partition, ended) WHERE instance IS NULL AND ended IS NOT NULL;
CREATE INDEX evaluated_decisions_alone ON evaluated_decisions (partition, evaluated) WHERE instance IS NULL;

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('instances', 'instances_by_end', '1000000 2'),
    ('instances', 'instances_called', '10000 10 1'),
    ('instance_tags', 'instance_tags_by_instance', '100000 2'),
    ('jobs', 'jobs_over', '1000000 1000000 2'),
    ('evaluated_decisions', 'evaluated_decisions_alone', '1000000 1000000 2');
ANALYZE sqlite_schema;
