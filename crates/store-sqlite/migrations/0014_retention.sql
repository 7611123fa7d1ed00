-- What retention and searches find by. (Nothing here breaks older servers, but they do not remove anything.)

-- The oldest first, before them those that run, by their keys. An instance that ends moves its entry to the end: 17 bytes.
CREATE INDEX instances_by_end ON instances (ended);
-- All that an instance has called, and what that has; none for those nobody called.
CREATE INDEX instances_called ON instances (root, key) WHERE parent_instance IS NOT NULL;
CREATE INDEX instance_tags_by_instance ON instance_tags (instance);
-- Nothing of these is of a process.
CREATE INDEX jobs_over ON jobs (partition, ended) WHERE instance IS NULL AND ended IS NOT NULL;
CREATE INDEX evaluated_decisions_alone ON evaluated_decisions (partition, evaluated) WHERE instance IS NULL;

-- Searches (ADR 30). Names and the beginnings of values; more of a value is compared with the row.
CREATE INDEX variables_by_value ON variables (name, substr(value, 1, 32), instance);
CREATE INDEX elements_by_element ON elements (definition, element);
CREATE INDEX jobs_by_type ON jobs (job_type);
CREATE INDEX instances_terminated ON instances (key) WHERE state = 'TERMINATED';
CREATE INDEX incidents_by_message ON incidents (message_hash);

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('instances', 'instances_by_end', '1000000 2'),
    ('instances', 'instances_called', '10000 10 1'),
    ('instance_tags', 'instance_tags_by_instance', '100000 2'),
    ('variables', 'variables_by_value', '2000000 200000 10 1'),
    ('elements', 'elements_by_element', '3000000 60000 20000'),
    ('jobs', 'jobs_by_type', '1000000 10000'),
    ('instances', 'instances_terminated', '10000 1'),
    ('incidents', 'incidents_by_message', '10000 100'),
    ('jobs', 'jobs_over', '1000000 1000000 2'),
    ('evaluated_decisions', 'evaluated_decisions_alone', '1000000 1000000 2');
ANALYZE sqlite_schema;
