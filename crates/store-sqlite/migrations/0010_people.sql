-- The audit trail: who did what (ADR 31).

-- When a job was handed out last, unless `audit` has it.
ALTER TABLE jobs ADD COLUMN dispatched INTEGER;

-- The form that a person is shown who starts the process, by its id, and which version of it is meant: the latest if nothing is said.
ALTER TABLE definitions ADD COLUMN start_form TEXT;
ALTER TABLE definitions ADD COLUMN start_form_binding TEXT;

CREATE TABLE audit (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT,
    operation TEXT NOT NULL,
    entity TEXT NOT NULL,
    entity_key TEXT NOT NULL,
    tenant TEXT NOT NULL,
    definition INTEGER,
    instance INTEGER,
    element_instance INTEGER,
    job INTEGER,
    job_type TEXT,
    worker TEXT,
    dispatched INTEGER,
    user_task INTEGER,
    deployment INTEGER,
    resource INTEGER,
    form INTEGER,
    requirements INTEGER,
    decision INTEGER,
    decision_id TEXT,
    batch INTEGER,
    description TEXT
) STRICT;

CREATE INDEX audit_by_time ON audit (at, key);
CREATE INDEX audit_by_instance ON audit (instance) WHERE instance IS NOT NULL;
CREATE INDEX audit_by_job ON audit (job) WHERE job IS NOT NULL;
CREATE INDEX audit_by_user_task ON audit (user_task) WHERE user_task IS NOT NULL;

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('audit', 'audit_by_time', '100000 10 1'),
    ('audit', 'audit_by_instance', '100000 5'),
    ('audit', 'audit_by_job', '100000 2'),
    ('audit', 'audit_by_user_task', '100000 3');
ANALYZE sqlite_schema;

-- Files that processes speak of, in parts.
CREATE TABLE documents (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    upload TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    hash TEXT NOT NULL,
    file_name TEXT NOT NULL,
    content_type TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER,
    process_id TEXT,
    instance INTEGER,
    properties TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX documents_by_expiry ON documents (expires) WHERE expires IS NOT NULL;

CREATE TABLE document_parts (
    upload TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (upload, number)
) STRICT;

CREATE INDEX document_parts_by_time ON document_parts (at);

CREATE TABLE document_links (
    token TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX document_links_by_document ON document_links (tenant, id);
CREATE INDEX document_links_by_expiry ON document_links (expires);

-- Those who listen to all user tasks: every version there ever was.
CREATE TABLE global_listeners (
    partition INTEGER NOT NULL,
    version INTEGER NOT NULL,
    listeners BLOB NOT NULL,
    changed INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    PRIMARY KEY (partition, version)
) STRICT, WITHOUT ROWID;
