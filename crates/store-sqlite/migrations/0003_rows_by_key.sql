-- Rows are kept in the order of their keys as table rows (INTEGER PRIMARY KEY), no longer as entries of an index (WITHOUT ROWID): a key has
-- its partition in its high bits, so it is enough by itself and gives the same order. What is new comes last, and there a table takes a new
-- page when the last one is full, where an index divides what it has among several; and rows up to a page fit into one, where an index
-- puts what is longer than a quarter elsewhere. One instance of one task, alone in its commits, writes 128 kB instead of 140.
-- (What else was tried is in docs/performance.md.)

CREATE TABLE definitions_by_key (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    process_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT,
    version_tag TEXT,
    tenant TEXT NOT NULL,
    resource INTEGER NOT NULL,
    resource_name TEXT NOT NULL,
    deployment INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    deleted INTEGER NOT NULL
) STRICT;
INSERT INTO definitions_by_key SELECT partition, key, process_id, version, name, version_tag, tenant, resource, resource_name, deployment, checksum, deleted FROM definitions;
DROP TABLE definitions;
ALTER TABLE definitions_by_key RENAME TO definitions;
CREATE UNIQUE INDEX definitions_by_version ON definitions (partition, process_id, tenant, version);

CREATE TABLE requirements_by_key (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    tenant TEXT NOT NULL,
    resource INTEGER NOT NULL,
    resource_name TEXT NOT NULL,
    deployment INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    deleted INTEGER NOT NULL
) STRICT;
INSERT INTO requirements_by_key SELECT partition, key, id, version, name, tenant, resource, resource_name, deployment, checksum, deleted FROM requirements;
DROP TABLE requirements;
ALTER TABLE requirements_by_key RENAME TO requirements;
CREATE UNIQUE INDEX requirements_by_version ON requirements (partition, id, tenant, version);

CREATE TABLE decisions_by_key (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    requirements INTEGER NOT NULL,
    place INTEGER NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    version_tag TEXT,
    tenant TEXT NOT NULL,
    deleted INTEGER NOT NULL
) STRICT;
INSERT INTO decisions_by_key SELECT partition, key, requirements, place, id, version, name, version_tag, tenant, deleted FROM decisions;
DROP TABLE decisions;
ALTER TABLE decisions_by_key RENAME TO decisions;
CREATE UNIQUE INDEX decisions_by_requirements ON decisions (partition, requirements, place);
CREATE UNIQUE INDEX decisions_by_version ON decisions (partition, id, tenant, version);

CREATE TABLE evaluated_decisions_by_key (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    evaluation INTEGER NOT NULL,
    place INTEGER NOT NULL,
    decision INTEGER,
    decision_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER,
    kind TEXT NOT NULL,
    requirements INTEGER NOT NULL,
    root_decision INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    evaluated INTEGER NOT NULL,
    output TEXT NOT NULL,
    details BLOB NOT NULL,
    instance INTEGER,
    definition INTEGER,
    element_instance INTEGER,
    CHECK (key = evaluation + place - 1)
) STRICT;
INSERT INTO evaluated_decisions_by_key SELECT partition, key, evaluation, place, decision, decision_id, name, version, kind, requirements, root_decision, tenant, evaluated, output, details, instance, definition, element_instance FROM evaluated_decisions;
DROP TABLE evaluated_decisions;
ALTER TABLE evaluated_decisions_by_key RENAME TO evaluated_decisions;
CREATE INDEX evaluated_decisions_by_decision ON evaluated_decisions (decision);
CREATE INDEX evaluated_decisions_by_evaluation ON evaluated_decisions (partition, evaluation);
CREATE INDEX evaluated_decisions_by_instance ON evaluated_decisions (partition, instance) WHERE instance IS NOT NULL;

CREATE TABLE instances_by_key (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
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
    incidents INTEGER NOT NULL
) STRICT;
INSERT INTO instances_by_key SELECT partition, key, definition, state, phase, started, ended, parent_instance, parent_element, root, tags, business_id, tokens, incidents FROM instances;
DROP TABLE instances;
ALTER TABLE instances_by_key RENAME TO instances;
CREATE INDEX instances_by_business_id ON instances (business_id) WHERE business_id IS NOT NULL;
CREATE INDEX instances_by_definition ON instances (definition);
CREATE INDEX instances_by_parent ON instances (parent_instance) WHERE parent_instance IS NOT NULL;
CREATE INDEX instances_by_start ON instances (started);
CREATE INDEX instances_running ON instances (definition) WHERE state = 'ACTIVE';
CREATE INDEX instances_stuck ON instances (partition, key) WHERE incidents > 0;

CREATE TABLE elements_by_key (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    element INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state = 'ACTIVE' OR state = 'COMPLETED' OR state = 'TERMINATED'),
    phase INTEGER NOT NULL,
    started INTEGER NOT NULL,
    ended INTEGER,
    incident INTEGER
) STRICT;
INSERT INTO elements_by_key SELECT partition, key, instance, definition, element, scope, state, phase, started, ended, incident FROM elements;
DROP TABLE elements;
ALTER TABLE elements_by_key RENAME TO elements;
CREATE INDEX elements_by_instance ON elements (partition, instance);
CREATE INDEX elements_live ON elements (partition, instance) WHERE state = 'ACTIVE';

CREATE TABLE variables_by_key (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL
) STRICT;
INSERT INTO variables_by_key SELECT partition, key, instance, definition, scope, name, value FROM variables;
DROP TABLE variables;
ALTER TABLE variables_by_key RENAME TO variables;
CREATE INDEX variables_by_instance ON variables (partition, instance, scope);
CREATE INDEX variables_by_local_scope ON variables (partition, scope) WHERE scope <> instance;

CREATE TABLE jobs_by_key (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
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
    ended INTEGER
) STRICT;
INSERT INTO jobs_by_key SELECT partition, key, instance, definition, element, element_instance, job_type, tenant, state, availability, due, retries, worker, deadline, error_code, error_message, failed_with_retries_left, created, updated, ended FROM jobs;
DROP TABLE jobs;
ALTER TABLE jobs_by_key RENAME TO jobs;
CREATE INDEX jobs_by_instance ON jobs (partition, instance);
CREATE INDEX jobs_open ON jobs (partition, instance) WHERE availability <> 'DONE';
CREATE INDEX jobs_ready ON jobs (partition, job_type, tenant, key) WHERE availability = 'READY';
CREATE INDEX jobs_timed ON jobs (partition, due, key) WHERE due IS NOT NULL;

CREATE TABLE incidents_by_key (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    element INTEGER NOT NULL,
    element_instance INTEGER NOT NULL,
    job INTEGER,
    kind TEXT NOT NULL,
    message TEXT NOT NULL,
    message_hash INTEGER NOT NULL,
    created INTEGER NOT NULL,
    resolved INTEGER
) STRICT;
INSERT INTO incidents_by_key SELECT partition, key, instance, definition, element, element_instance, job, kind, message, message_hash, created, resolved FROM incidents;
DROP TABLE incidents;
ALTER TABLE incidents_by_key RENAME TO incidents;
CREATE INDEX incidents_active ON incidents (partition, instance) WHERE resolved IS NULL;
CREATE INDEX incidents_by_definition ON incidents (definition);
CREATE INDEX incidents_by_instance ON incidents (partition, instance);

-- As in the first migration: what the planner is to believe. (What it believed of these went with the tables.)
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('definitions', 'definitions_by_version', '50 50 3 3 1'),
    ('instances', 'instances_running', '1000 20'),
    ('instances', 'instances_by_definition', '1000000 20000'),
    ('instances', 'instances_by_start', '1000000 2'),
    ('instances', 'instances_by_parent', '10000 2'),
    ('instances', 'instances_by_business_id', '100000 1'),
    ('instances', 'instances_stuck', '100 100 1'),
    ('elements', 'elements_live', '2000 2000 2'),
    ('elements', 'elements_by_instance', '3000000 3000000 4'),
    ('variables', 'variables_by_instance', '2000000 2000000 3 2'),
    ('variables', 'variables_by_local_scope', '100000 100000 2'),
    ('jobs', 'jobs_ready', '1000 1000 100 100 1'),
    ('jobs', 'jobs_timed', '1000 1000 2 1'),
    ('jobs', 'jobs_open', '2000 2000 2'),
    ('jobs', 'jobs_by_instance', '1000000 1000000 2'),
    ('incidents', 'incidents_active', '100 100 2'),
    ('incidents', 'incidents_by_instance', '10000 10000 2'),
    ('incidents', 'incidents_by_definition', '10000 200'),
    ('requirements', 'requirements_by_version', '50 50 3 3 1'),
    ('decisions', 'decisions_by_version', '100 100 3 3 1'),
    ('decisions', 'decisions_by_requirements', '100 100 2 1'),
    ('evaluated_decisions', 'evaluated_decisions_by_evaluation', '1000000 1000000 2'),
    ('evaluated_decisions', 'evaluated_decisions_by_instance', '1000000 1000000 2'),
    ('evaluated_decisions', 'evaluated_decisions_by_decision', '1000000 10000');
ANALYZE sqlite_schema;
