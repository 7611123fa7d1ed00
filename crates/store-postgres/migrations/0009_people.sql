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
