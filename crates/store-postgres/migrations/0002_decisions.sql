-- One version of a DMN file. Its decisions are deleted with it.
CREATE TABLE requirements (
    partition     bigint NOT NULL,
    key           bigint NOT NULL,
    id            text COLLATE "C" NOT NULL,
    version       integer NOT NULL,
    name          text COLLATE "C" NOT NULL,
    tenant        text COLLATE "C" NOT NULL,
    resource      bigint NOT NULL,
    resource_name text COLLATE "C" NOT NULL,
    deployment    bigint NOT NULL,
    checksum      bytea NOT NULL,
    deleted       boolean NOT NULL,
    PRIMARY KEY (partition, key)
);

CREATE UNIQUE INDEX requirements_by_version ON requirements (partition, tenant, id, version);

CREATE TABLE decisions (
    partition    bigint NOT NULL,
    key          bigint NOT NULL,
    requirements bigint NOT NULL,
    place        integer NOT NULL,
    id           text COLLATE "C" NOT NULL,
    version      integer NOT NULL,
    name         text COLLATE "C" NOT NULL,
    version_tag  text COLLATE "C",
    tenant       text COLLATE "C" NOT NULL,
    deleted      boolean NOT NULL,
    PRIMARY KEY (partition, key)
);

CREATE UNIQUE INDEX decisions_by_version ON decisions (partition, tenant, id, version);
CREATE UNIQUE INDEX decisions_by_requirements ON decisions (partition, requirements, place);

CREATE TABLE evaluated_decisions (
    partition        bigint NOT NULL,
    -- The evaluation's plus the place in it, counted from 0.
    key              bigint NOT NULL,
    evaluation       bigint NOT NULL,
    place            integer NOT NULL,
    decision         bigint,
    decision_id      text COLLATE "C" NOT NULL,
    name             text COLLATE "C" NOT NULL,
    version          integer,
    kind             text COLLATE "C" NOT NULL,
    requirements     bigint NOT NULL,
    root_decision    bigint NOT NULL,
    tenant           text COLLATE "C" NOT NULL,
    evaluated        bigint NOT NULL,
    output           text COLLATE "C" NOT NULL,
    -- Inputs and rules.
    details          bytea NOT NULL,
    instance         bigint,
    definition       bigint,
    element_instance bigint,
    PRIMARY KEY (partition, key),
    CHECK (key = evaluation + place - 1)
);

CREATE INDEX evaluated_decisions_by_evaluation ON evaluated_decisions (evaluation);
CREATE INDEX evaluated_decisions_by_instance ON evaluated_decisions (instance) WHERE instance IS NOT NULL;
CREATE INDEX evaluated_decisions_by_decision ON evaluated_decisions (decision);
