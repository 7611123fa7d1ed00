-- Breaking: this is the first.
--
-- Every primary key begins with the partition. Rows of running work are narrow; what belongs to a definition is stored with it.
-- A CHECK with IN builds a temporary table on every write (measured: 16 of 37 µs an instance), so they are written with OR.
-- Tables WITHOUT ROWID keep rows in the order of their keys, which is the order in which they are written.

-- One row per ordered log: who owns it, how long it is, how far it is processed, which key comes next.
CREATE TABLE partitions (
    partition INTEGER NOT NULL PRIMARY KEY,
    epoch INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER NOT NULL,
    tail INTEGER NOT NULL,
    processed_to INTEGER NOT NULL,
    next_key INTEGER NOT NULL,
    CHECK (processed_to <= tail)
) STRICT;

-- A command and what became of it. No request where it was processed in the commit that brought it.
CREATE TABLE log (
    partition INTEGER NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    instance INTEGER,
    request BLOB,
    events BLOB,
    answer BLOB,
    PRIMARY KEY (partition, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE resources (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
    name TEXT NOT NULL,
    content BLOB NOT NULL,
    tenant TEXT NOT NULL,
    PRIMARY KEY (partition, key)
) STRICT;

CREATE TABLE definitions (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
    process_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT,
    version_tag TEXT,
    tenant TEXT NOT NULL,
    resource INTEGER NOT NULL,
    resource_name TEXT NOT NULL,
    deployment INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    deleted INTEGER NOT NULL,
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX definitions_by_version ON definitions (partition, process_id, tenant, version);

CREATE TABLE definition_elements (
    partition INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    element INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT,
    kind TEXT NOT NULL,
    headers TEXT NOT NULL,
    PRIMARY KEY (partition, definition, element)
) STRICT, WITHOUT ROWID;

CREATE TABLE instances (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state = 'ACTIVE' OR state = 'COMPLETED' OR state = 'TERMINATED'),
    phase INTEGER NOT NULL,
    started INTEGER NOT NULL,
    ended INTEGER,
    parent_instance INTEGER,
    parent_element INTEGER,
    root INTEGER NOT NULL,
    tags TEXT NOT NULL,
    business_id TEXT,
    tokens BLOB NOT NULL,
    incidents INTEGER NOT NULL,
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX instances_running ON instances (definition) WHERE state = 'ACTIVE';
CREATE INDEX instances_by_definition ON instances (definition);
CREATE INDEX instances_by_start ON instances (started);
CREATE INDEX instances_by_parent ON instances (parent_instance) WHERE parent_instance IS NOT NULL;
CREATE INDEX instances_by_business_id ON instances (business_id) WHERE business_id IS NOT NULL;
CREATE INDEX instances_stuck ON instances (partition, key) WHERE incidents > 0;

CREATE TABLE instance_tags (
    partition INTEGER NOT NULL,
    tag TEXT NOT NULL,
    instance INTEGER NOT NULL,
    PRIMARY KEY (partition, tag, instance)
) STRICT, WITHOUT ROWID;

CREATE TABLE elements (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    element INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state = 'ACTIVE' OR state = 'COMPLETED' OR state = 'TERMINATED'),
    phase INTEGER NOT NULL,
    started INTEGER NOT NULL,
    ended INTEGER,
    incident INTEGER,
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX elements_live ON elements (partition, instance) WHERE state = 'ACTIVE';
CREATE INDEX elements_by_instance ON elements (partition, instance);

CREATE TABLE variables (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX variables_by_instance ON variables (partition, instance, scope);
CREATE INDEX variables_by_local_scope ON variables (partition, scope) WHERE scope <> instance;

-- `due` is when a lease or a back-off ends: the one column the owner's timed window is read by.
CREATE TABLE jobs (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    element INTEGER NOT NULL,
    element_instance INTEGER NOT NULL,
    job_type TEXT NOT NULL,
    tenant TEXT NOT NULL,
    state TEXT NOT NULL,
    availability TEXT NOT NULL CHECK (availability = 'READY' OR availability = 'LEASED' OR availability = 'BACKING_OFF'
        OR availability = 'STUCK' OR availability = 'DONE'),
    due INTEGER,
    retries INTEGER NOT NULL,
    worker TEXT NOT NULL,
    deadline INTEGER,
    error_code TEXT NOT NULL,
    error_message TEXT NOT NULL,
    failed_with_retries_left INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    ended INTEGER,
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_ready ON jobs (partition, job_type, tenant, key) WHERE availability = 'READY';
CREATE INDEX jobs_timed ON jobs (partition, due, key) WHERE due IS NOT NULL;
CREATE INDEX jobs_open ON jobs (partition, instance) WHERE availability <> 'DONE';
CREATE INDEX jobs_by_instance ON jobs (partition, instance);

CREATE TABLE incidents (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    element INTEGER NOT NULL,
    element_instance INTEGER NOT NULL,
    job INTEGER,
    kind TEXT NOT NULL,
    message TEXT NOT NULL,
    message_hash INTEGER NOT NULL,
    created INTEGER NOT NULL,
    resolved INTEGER,
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX incidents_active ON incidents (partition, instance) WHERE resolved IS NULL;
CREATE INDEX incidents_by_instance ON incidents (partition, instance);
CREATE INDEX incidents_by_definition ON incidents (definition);

CREATE TABLE idempotent (
    partition INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint INTEGER NOT NULL,
    position INTEGER NOT NULL,
    answer BLOB NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (partition, tenant, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotent_by_expiry ON idempotent (partition, expires);

-- What the planner is to believe: a long history, few of it alive, and that the partition alone tells nothing. ANALYZE is never
-- run over real rows, so plans do not change from one day to the next.
ANALYZE;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('log', 'log', '10000000 10000000 1'),
    ('definitions', 'definitions', '50 50 1'),
    ('definitions', 'definitions_by_version', '50 50 3 3 1'),
    ('definition_elements', 'definition_elements', '500 500 10 1'),
    ('instances', 'instances', '1000000 1000000 1'),
    ('instances', 'instances_running', '1000 20'),
    ('instances', 'instances_by_definition', '1000000 20000'),
    ('instances', 'instances_by_start', '1000000 2'),
    ('instances', 'instances_by_parent', '10000 2'),
    ('instances', 'instances_by_business_id', '100000 1'),
    ('instances', 'instances_stuck', '100 100 1'),
    ('instance_tags', 'instance_tags', '100000 100000 1000 1'),
    ('elements', 'elements', '3000000 3000000 1'),
    ('elements', 'elements_live', '2000 2000 2'),
    ('elements', 'elements_by_instance', '3000000 3000000 4'),
    ('variables', 'variables', '2000000 2000000 1'),
    ('variables', 'variables_by_instance', '2000000 2000000 3 2'),
    ('variables', 'variables_by_local_scope', '100000 100000 2'),
    ('jobs', 'jobs', '1000000 1000000 1'),
    ('jobs', 'jobs_ready', '1000 1000 100 100 1'),
    ('jobs', 'jobs_timed', '1000 1000 2 1'),
    ('jobs', 'jobs_open', '2000 2000 2'),
    ('jobs', 'jobs_by_instance', '1000000 1000000 2'),
    ('incidents', 'incidents', '10000 10000 1'),
    ('incidents', 'incidents_active', '100 100 2'),
    ('incidents', 'incidents_by_instance', '10000 10000 2'),
    ('incidents', 'incidents_by_definition', '10000 200'),
    ('idempotent', 'idempotent', '100000 100000 50000 1'),
    ('idempotent', 'idempotent_by_expiry', '100000 100000 2');
ANALYZE sqlite_schema;
