-- One version of a DMN file. Its decisions are deleted with it.
CREATE TABLE requirements (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    tenant TEXT NOT NULL,
    resource INTEGER NOT NULL,
    resource_name TEXT NOT NULL,
    deployment INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    deleted INTEGER NOT NULL,
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX requirements_by_version ON requirements (partition, id, tenant, version);

CREATE TABLE decisions (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
    requirements INTEGER NOT NULL,
    place INTEGER NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    version_tag TEXT,
    tenant TEXT NOT NULL,
    deleted INTEGER NOT NULL,
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX decisions_by_version ON decisions (partition, id, tenant, version);
CREATE UNIQUE INDEX decisions_by_requirements ON decisions (partition, requirements, place);

-- `key` is that of the evaluation plus the place in it, counted from 0. `details` holds inputs and rules.
CREATE TABLE evaluated_decisions (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
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
    PRIMARY KEY (partition, key),
    CHECK (key = evaluation + place - 1)
) STRICT, WITHOUT ROWID;
CREATE INDEX evaluated_decisions_by_evaluation ON evaluated_decisions (partition, evaluation);
CREATE INDEX evaluated_decisions_by_instance ON evaluated_decisions (partition, instance) WHERE instance IS NOT NULL;
CREATE INDEX evaluated_decisions_by_decision ON evaluated_decisions (decision);

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('requirements', 'requirements', '50 50 1'),
    ('requirements', 'requirements_by_version', '50 50 3 3 1'),
    ('decisions', 'decisions', '100 100 1'),
    ('decisions', 'decisions_by_version', '100 100 3 3 1'),
    ('decisions', 'decisions_by_requirements', '100 100 2 1'),
    ('evaluated_decisions', 'evaluated_decisions', '1000000 1000000 1'),
    ('evaluated_decisions', 'evaluated_decisions_by_evaluation', '1000000 1000000 2'),
    ('evaluated_decisions', 'evaluated_decisions_by_instance', '1000000 1000000 2'),
    ('evaluated_decisions', 'evaluated_decisions_by_decision', '1000000 10000');
ANALYZE sqlite_schema;
