-- The audit trail: who did what (ADR 31).
-- Breaks older servers: they would hand out jobs without saying when.
--
-- `dispatched`: when a job was handed out last, unless `audit` has it.
ALTER TABLE jobs ADD COLUMN dispatched bigint;

-- The form that a person is shown who starts the process, by its id, and which version of it is meant: the latest if nothing is said.
ALTER TABLE definitions
    ADD COLUMN start_form         text COLLATE "C",
    ADD COLUMN start_form_binding text COLLATE "C";

CREATE TABLE audit (
    partition        bigint NOT NULL,
    key              bigint NOT NULL,
    at               bigint NOT NULL,
    actor            text COLLATE "C",
    operation        text COLLATE "C" NOT NULL,
    entity           text COLLATE "C" NOT NULL,
    entity_key       text COLLATE "C" NOT NULL,
    tenant           text COLLATE "C" NOT NULL,
    definition       bigint,
    instance         bigint,
    element_instance bigint,
    job              bigint,
    job_type         text COLLATE "C",
    worker           text COLLATE "C",
    dispatched       bigint,
    user_task        bigint,
    deployment       bigint,
    resource         bigint,
    form             bigint,
    requirements     bigint,
    decision         bigint,
    decision_id      text COLLATE "C",
    batch            bigint,
    description      text COLLATE "C",
    PRIMARY KEY (partition, key)
);

CREATE INDEX audit_by_time ON audit (at, key);
CREATE INDEX audit_by_instance ON audit (instance) WHERE instance IS NOT NULL;
CREATE INDEX audit_by_job ON audit (job) WHERE job IS NOT NULL;
CREATE INDEX audit_by_user_task ON audit (user_task) WHERE user_task IS NOT NULL;

-- Files that processes speak of, in parts.
CREATE TABLE documents (
    tenant       text COLLATE "C" NOT NULL,
    id           text COLLATE "C" NOT NULL,
    upload       text COLLATE "C" NOT NULL UNIQUE,
    size         bigint NOT NULL,
    hash         text COLLATE "C" NOT NULL,
    file_name    text COLLATE "C" NOT NULL,
    content_type text COLLATE "C" NOT NULL,
    created      bigint NOT NULL,
    expires      bigint,
    process_id   text COLLATE "C",
    instance     bigint,
    properties   text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE INDEX documents_by_expiry ON documents (expires) WHERE expires IS NOT NULL;

-- Most of them are compressed already.
CREATE TABLE document_parts (
    upload text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    at     bigint NOT NULL,
    bytes  bytea NOT NULL,
    PRIMARY KEY (upload, number)
);

ALTER TABLE document_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE INDEX document_parts_by_time ON document_parts (at);

CREATE TABLE document_links (
    token   text COLLATE "C" NOT NULL PRIMARY KEY,
    tenant  text COLLATE "C" NOT NULL,
    id      text COLLATE "C" NOT NULL,
    expires bigint NOT NULL
);

CREATE INDEX document_links_by_document ON document_links (tenant, id);
CREATE INDEX document_links_by_expiry ON document_links (expires);

-- Those who listen to all user tasks: every version there ever was.
CREATE TABLE global_listeners (
    partition  bigint NOT NULL,
    version    integer NOT NULL,
    listeners  bytea NOT NULL,
    changed    bigint NOT NULL,
    changed_by text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, version)
);
