-- The first schema.
-- Breaks older servers: there are none.
--
-- Every primary key begins with the partition. No sequences, triggers or foreign keys: keys come from the partition's row, and
-- what belongs together is written in one transaction. Texts that are searched compare byte by byte (COLLATE "C"), as in the
-- other stores.
--
-- Rows that are sure to change leave room for it in their page (fillfactor): the new version then stays beside the old one, which
-- spares index entries where no indexed column changes, and log volume always. Measured on one-task instances in batches of 200:
-- 5.3 kB of WAL per instance with an index of live element instances and less room, 4.8 kB as it is here.

CREATE TABLE partitions (
    partition    bigint PRIMARY KEY,
    epoch        bigint NOT NULL,
    -- Who has, or last had, the lease, and until when by the database's clock.
    owner        text COLLATE "C",
    lease_until  bigint,
    tail         bigint NOT NULL,
    processed_to bigint NOT NULL,
    next_key     bigint NOT NULL,
    CHECK (0 <= processed_to AND processed_to <= tail)
) WITH (fillfactor = 10);

CREATE TABLE log (
    partition bigint NOT NULL,
    position  bigint NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    at        bigint NOT NULL,
    -- Absent where the command entered the log together with its outcome.
    request   bytea,
    instance  bigint,
    events    bytea,
    answer    bytea,
    PRIMARY KEY (partition, position)
);

CREATE TABLE idempotent (
    partition   bigint NOT NULL,
    tenant      text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    fingerprint bigint NOT NULL,
    position    bigint NOT NULL,
    answer      bytea NOT NULL,
    expires     bigint NOT NULL,
    PRIMARY KEY (partition, tenant, key)
);

CREATE INDEX idempotent_by_expiry ON idempotent (partition, expires);

CREATE TABLE resources (
    partition bigint NOT NULL,
    key       bigint NOT NULL,
    name      text COLLATE "C" NOT NULL,
    content   bytea NOT NULL,
    tenant    text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, key)
);

CREATE TABLE definitions (
    partition     bigint NOT NULL,
    key           bigint NOT NULL,
    process_id    text COLLATE "C" NOT NULL,
    version       integer NOT NULL,
    name          text COLLATE "C",
    version_tag   text COLLATE "C",
    tenant        text COLLATE "C" NOT NULL,
    resource      bigint NOT NULL,
    resource_name text COLLATE "C" NOT NULL,
    deployment    bigint NOT NULL,
    checksum      bytea NOT NULL,
    deleted       boolean NOT NULL,
    PRIMARY KEY (partition, key)
);

CREATE UNIQUE INDEX definitions_by_version ON definitions (partition, tenant, process_id, version);

-- What searches show of a definition's elements.
CREATE TABLE definition_elements (
    partition  bigint NOT NULL,
    definition bigint NOT NULL,
    element    integer NOT NULL,
    id         text COLLATE "C" NOT NULL,
    name       text COLLATE "C",
    kind       text COLLATE "C" NOT NULL,
    headers    text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, definition, element)
);

CREATE TABLE instances (
    partition       bigint NOT NULL,
    key             bigint NOT NULL,
    definition      bigint NOT NULL,
    state           text COLLATE "C" NOT NULL,
    phase           smallint NOT NULL,
    started         bigint NOT NULL,
    ended           bigint,
    parent_instance bigint,
    parent_element  bigint,
    root            bigint NOT NULL,
    tags            text COLLATE "C" NOT NULL,
    business_id     text COLLATE "C",
    tokens          bytea NOT NULL,
    incidents       integer NOT NULL,
    PRIMARY KEY (partition, key)
) WITH (fillfactor = 60);

-- These two begin with the definition, because those who ask by it do not know in which partitions its instances are.
CREATE INDEX instances_by_definition ON instances (definition, partition, key);
CREATE INDEX instances_running ON instances (definition, partition, key) WHERE state = 'ACTIVE';

-- For searches; the instance has its tags as well.
CREATE TABLE instance_tags (
    partition bigint NOT NULL,
    tag       text COLLATE "C" NOT NULL,
    instance  bigint NOT NULL,
    PRIMARY KEY (partition, tag, instance)
);

CREATE TABLE elements (
    partition  bigint NOT NULL,
    key        bigint NOT NULL,
    instance   bigint NOT NULL,
    definition bigint NOT NULL,
    element    integer NOT NULL,
    scope      bigint NOT NULL,
    state      text COLLATE "C" NOT NULL,
    phase      smallint NOT NULL,
    started    bigint NOT NULL,
    ended      bigint,
    incident   bigint,
    PRIMARY KEY (partition, key)
) WITH (fillfactor = 65);

-- Keys have the partition in their high bits, so indexes by instance need not name it. There is none of live element instances
-- only: those of one instance are few enough to look through, and without it an element instance that ends touches no index.
CREATE INDEX elements_by_instance ON elements (instance);

CREATE TABLE variables (
    partition  bigint NOT NULL,
    key        bigint NOT NULL,
    instance   bigint NOT NULL,
    definition bigint NOT NULL,
    scope      bigint NOT NULL,
    name       text COLLATE "C" NOT NULL,
    value      text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, key)
) WITH (fillfactor = 90);

CREATE INDEX variables_by_instance ON variables (instance);

CREATE TABLE jobs (
    partition                bigint NOT NULL,
    key                      bigint NOT NULL,
    instance                 bigint NOT NULL,
    definition               bigint NOT NULL,
    element                  integer NOT NULL,
    element_instance         bigint NOT NULL,
    job_type                 text COLLATE "C" NOT NULL,
    tenant                   text COLLATE "C" NOT NULL,
    state                    text COLLATE "C" NOT NULL,
    availability             text COLLATE "C" NOT NULL,
    -- When its availability ends by itself.
    due                      bigint,
    retries                  integer NOT NULL,
    worker                   text COLLATE "C" NOT NULL,
    deadline                 bigint,
    error_code               text COLLATE "C" NOT NULL,
    error_message            text COLLATE "C" NOT NULL,
    failed_with_retries_left boolean NOT NULL,
    created                  bigint NOT NULL,
    updated                  bigint NOT NULL,
    ended                    bigint,
    PRIMARY KEY (partition, key)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1);

-- The windows of waiting and of timed jobs: whoever refills them begins where he stopped, so that entries of jobs that have moved on
-- are not read again and again.
CREATE INDEX jobs_by_instance ON jobs (instance);
CREATE INDEX jobs_ready ON jobs (partition, job_type, tenant, key) WHERE availability = 'READY';
CREATE INDEX jobs_timed ON jobs (partition, due, key) WHERE due IS NOT NULL;

CREATE TABLE incidents (
    partition        bigint NOT NULL,
    key              bigint NOT NULL,
    instance         bigint NOT NULL,
    definition       bigint NOT NULL,
    element          integer NOT NULL,
    element_instance bigint NOT NULL,
    job              bigint,
    kind             text COLLATE "C" NOT NULL,
    message          text COLLATE "C" NOT NULL,
    message_hash     integer NOT NULL,
    created          bigint NOT NULL,
    resolved         bigint,
    PRIMARY KEY (partition, key)
);

CREATE INDEX incidents_by_instance ON incidents (instance);
CREATE INDEX incidents_active ON incidents (instance) WHERE resolved IS NULL;
