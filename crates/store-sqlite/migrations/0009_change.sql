-- Suspended instances, and operations over many instances.
-- Breaking: older servers would go on with what is suspended.

-- Since when it stands still. None is NULL, so that rows of the others are no longer than before.
ALTER TABLE instances ADD COLUMN suspended INTEGER;
CREATE INDEX instances_suspended ON instances (key) WHERE suspended IS NOT NULL;

-- `asked`: what is to be done to which. `after`: up to which key they have been found. `due`: while it goes on.
CREATE TABLE batch_operations (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    actor TEXT NOT NULL,
    started INTEGER,
    ended INTEGER,
    due INTEGER,
    total INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    after INTEGER,
    asked BLOB NOT NULL,
    error TEXT
) STRICT;
CREATE INDEX batch_operations_by_time ON batch_operations (partition, due, key) WHERE due IS NOT NULL;

CREATE TABLE batch_items (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    batch INTEGER NOT NULL,
    item INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    instance INTEGER,
    root INTEGER,
    state TEXT NOT NULL,
    processed INTEGER,
    error TEXT
) STRICT;
CREATE INDEX batch_items_by_batch ON batch_items (batch, key);
CREATE INDEX batch_items_open ON batch_items (batch, key) WHERE state = 'ACTIVE';
CREATE INDEX batch_items_by_instance ON batch_items (instance) WHERE instance IS NOT NULL;

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('instances', 'instances_suspended', '100 1'),
    ('batch_operations', 'batch_operations_by_time', '10 10 2 1'),
    ('batch_items', 'batch_items_by_batch', '100000 10000 1'),
    ('batch_items', 'batch_items_open', '10000 1000 1'),
    ('batch_items', 'batch_items_by_instance', '100000 2');
ANALYZE sqlite_schema;
