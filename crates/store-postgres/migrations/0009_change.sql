-- Suspended instances, and operations over many instances.
-- Breaks older servers: they would go on with what is suspended.
--
-- Since when it stands still; null for the others.
ALTER TABLE instances ADD COLUMN suspended bigint;
CREATE INDEX instances_suspended ON instances (key) WHERE suspended IS NOT NULL;

-- `asked`: what is to be done to which. `after`: up to which key they have been found. `due`: while it goes on.
CREATE TABLE batch_operations (
    partition bigint NOT NULL,
    key       bigint NOT NULL,
    tenant    text COLLATE "C" NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    state     text COLLATE "C" NOT NULL,
    actor     text COLLATE "C" NOT NULL,
    started   bigint,
    ended     bigint,
    due       bigint,
    total     bigint NOT NULL,
    completed bigint NOT NULL,
    failed    bigint NOT NULL,
    after     bigint,
    asked     bytea NOT NULL,
    error     text COLLATE "C",
    PRIMARY KEY (partition, key)
);
CREATE INDEX batch_operations_by_time ON batch_operations ((partition + 0), due, (key + 0)) WHERE due IS NOT NULL;

CREATE TABLE batch_items (
    partition bigint NOT NULL,
    key       bigint NOT NULL,
    batch     bigint NOT NULL,
    item      bigint NOT NULL,
    tenant    text COLLATE "C" NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    instance  bigint,
    root      bigint,
    state     text COLLATE "C" NOT NULL,
    processed bigint,
    error     text COLLATE "C",
    PRIMARY KEY (partition, key)
);
CREATE INDEX batch_items_by_batch ON batch_items (batch, key);
CREATE INDEX batch_items_open ON batch_items (batch, (CASE WHEN state = 'ACTIVE' THEN key END))
    WHERE (CASE WHEN state = 'ACTIVE' THEN key END) IS NOT NULL;
CREATE INDEX batch_items_by_instance ON batch_items (instance) WHERE instance IS NOT NULL;
