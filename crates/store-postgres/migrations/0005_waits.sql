-- Timers, subscriptions, messages, signals and compensations.
-- Breaks older servers: they would not look at them.
--
-- As in migration 3, each statement of a tick is fitted by one index alone. So indexes of one table that begin alike either hold
-- different rows, by conditions that do not follow from one another, or write the partition and the key in ways of their own.

-- How many called an instance, one through the other. Nobody has called any so far.
ALTER TABLE instances ADD COLUMN depth integer NOT NULL DEFAULT 0;
ALTER TABLE instances ALTER COLUMN depth DROP DEFAULT;

-- How far the body of a repeated activity has come.
ALTER TABLE elements ADD COLUMN progress text COLLATE "C";

-- Completed activities that their scopes can undo.
CREATE TABLE compensations (
    partition bigint NOT NULL,
    key       bigint NOT NULL,
    instance  bigint NOT NULL,
    scope     bigint NOT NULL,
    activity  integer NOT NULL,
    PRIMARY KEY (partition, key)
);

CREATE INDEX compensations_by_instance ON compensations (instance);

-- Planned firings. Those of start events have neither instance nor element instance.
CREATE TABLE timers (
    partition        bigint NOT NULL,
    key              bigint NOT NULL,
    wait             bigint NOT NULL,
    instance         bigint,
    element_instance bigint,
    definition       bigint NOT NULL,
    tenant           text COLLATE "C" NOT NULL,
    element          integer NOT NULL,
    kind             text COLLATE "C" NOT NULL,
    text             text COLLATE "C" NOT NULL,
    armed            bigint NOT NULL,
    number           integer NOT NULL,
    due              bigint NOT NULL,
    state            text COLLATE "C" NOT NULL,
    created          bigint NOT NULL,
    ended            bigint,
    PRIMARY KEY (partition, key)
) WITH (fillfactor = 70);

CREATE INDEX timers_by_instance ON timers (instance, (state = 'PENDING')) WHERE instance IS NOT NULL;
-- Not by a plain condition on the state: whoever asks for pending timers of an instance would say it, too.
CREATE INDEX timers_by_time ON timers ((partition + 0), (CASE WHEN state = 'PENDING' THEN due END), (key + 0))
    WHERE (CASE WHEN state = 'PENDING' THEN due END) IS NOT NULL;
CREATE INDEX timers_starting ON timers ((CASE WHEN instance IS NULL AND state = 'PENDING' THEN definition END))
    WHERE (CASE WHEN instance IS NULL AND state = 'PENDING' THEN definition END) IS NOT NULL;
CREATE INDEX timers_by_end ON timers ((partition + 0), ended) WHERE ended IS NOT NULL;

-- Waits for messages, signals, conditions and called instances. Those of start events have neither instance nor element instance.
CREATE TABLE subscriptions (
    partition        bigint NOT NULL,
    key              bigint NOT NULL,
    kind             text COLLATE "C" NOT NULL,
    name             text COLLATE "C" NOT NULL,
    correlation_key  text COLLATE "C" NOT NULL,
    child            bigint,
    tenant           text COLLATE "C" NOT NULL,
    definition       bigint NOT NULL,
    process_id       text COLLATE "C" NOT NULL,
    element          integer NOT NULL,
    catches          boolean NOT NULL,
    instance         bigint,
    element_instance bigint,
    state            text COLLATE "C" NOT NULL,
    created          bigint NOT NULL,
    updated          bigint NOT NULL,
    PRIMARY KEY (partition, key)
) WITH (fillfactor = 70);

CREATE INDEX subscriptions_by_instance ON subscriptions (instance, (state = 'CREATED')) WHERE instance IS NOT NULL;
-- Open ones, to messages and to signals, by what they wait for.
CREATE INDEX subscriptions_open ON subscriptions
    ((partition + 0), kind, tenant, (CASE WHEN state = 'CREATED' AND kind IN ('MESSAGE', 'SIGNAL') THEN name END), correlation_key,
     (key + 0))
    WHERE (CASE WHEN state = 'CREATED' AND kind IN ('MESSAGE', 'SIGNAL') THEN name END) IS NOT NULL;
CREATE INDEX subscriptions_starting ON subscriptions ((CASE WHEN instance IS NULL AND state = 'CREATED' THEN definition END))
    WHERE (CASE WHEN instance IS NULL AND state = 'CREATED' THEN definition END) IS NOT NULL;
CREATE INDEX subscriptions_by_end ON subscriptions ((partition + 0), (CASE WHEN state <> 'CREATED' THEN updated END))
    WHERE (CASE WHEN state <> 'CREATED' THEN updated END) IS NOT NULL;

-- Messages until they expire.
CREATE TABLE messages (
    partition       bigint NOT NULL,
    key             bigint NOT NULL,
    tenant          text COLLATE "C" NOT NULL,
    name            text COLLATE "C" NOT NULL,
    correlation_key text COLLATE "C" NOT NULL,
    message_id      text COLLATE "C" NOT NULL,
    variables       bytea NOT NULL,
    published       bigint NOT NULL,
    expires         bigint NOT NULL,
    -- The ids of processes it was correlated to, a line each.
    taken_by        text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, key)
) WITH (fillfactor = 80);

CREATE INDEX messages_by_name ON messages (tenant, name, correlation_key, (partition - 0), (key - 0));
CREATE INDEX messages_by_expiry ON messages ((partition + 0), expires, (key + 0));

-- What was correlated to what.
CREATE TABLE message_correlations (
    partition        bigint NOT NULL,
    key              bigint NOT NULL,
    message          bigint NOT NULL,
    subscription     bigint NOT NULL,
    tenant           text COLLATE "C" NOT NULL,
    name             text COLLATE "C" NOT NULL,
    correlation_key  text COLLATE "C" NOT NULL,
    definition       bigint NOT NULL,
    process_id       text COLLATE "C" NOT NULL,
    instance         bigint NOT NULL,
    root             bigint NOT NULL,
    element          integer NOT NULL,
    element_instance bigint,
    at               bigint NOT NULL,
    PRIMARY KEY (partition, key)
);

CREATE INDEX message_correlations_by_instance ON message_correlations (instance);
CREATE INDEX message_correlations_by_time ON message_correlations ((partition + 0), at);

-- Of a process and a correlation key at most one instance runs that a message has started.
CREATE TABLE message_locks (
    partition       bigint NOT NULL,
    tenant          text COLLATE "C" NOT NULL,
    process_id      text COLLATE "C" NOT NULL,
    correlation_key text COLLATE "C" NOT NULL,
    instance        bigint NOT NULL,
    PRIMARY KEY (partition, tenant, process_id, correlation_key)
);

CREATE INDEX message_locks_by_instance ON message_locks (instance);

-- Signals on their way.
CREATE TABLE signals (
    partition bigint NOT NULL,
    key       bigint NOT NULL,
    tenant    text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    variables bytea NOT NULL,
    -- Subscriptions up to this key have had it.
    after     bigint NOT NULL,
    due       bigint NOT NULL,
    PRIMARY KEY (partition, key)
) WITH (fillfactor = 50);

CREATE INDEX signals_by_time ON signals ((partition + 0), due, (key + 0));

-- As in migration 3: what may be large is compressed quickly or not at all.
DO $$
DECLARE
    large record;
BEGIN
    FOR large IN VALUES ('messages', 'variables'), ('signals', 'variables')
    LOOP
        BEGIN
            EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET COMPRESSION lz4', large.column1, large.column2);
        EXCEPTION WHEN feature_not_supported THEN
            EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STORAGE EXTERNAL', large.column1, large.column2);
        END;
    END LOOP;
END $$;

-- Where a job has headers of its own, all of them; the others have those of their element.
ALTER TABLE jobs ADD COLUMN headers text COLLATE "C";

-- Tasks for people. Candidates are a line each.
CREATE TABLE user_tasks (
    partition        bigint NOT NULL,
    key              bigint NOT NULL,
    instance         bigint NOT NULL,
    definition       bigint NOT NULL,
    element          integer NOT NULL,
    element_instance bigint NOT NULL,
    tenant           text COLLATE "C" NOT NULL,
    state            text COLLATE "C" NOT NULL,
    assignee         text COLLATE "C",
    candidate_groups text COLLATE "C" NOT NULL,
    candidate_users  text COLLATE "C" NOT NULL,
    due              bigint,
    follow_up        bigint,
    priority         integer NOT NULL,
    form             bigint,
    external_form    text COLLATE "C",
    created          bigint NOT NULL,
    ended            bigint,
    PRIMARY KEY (partition, key)
) WITH (fillfactor = 70);

CREATE INDEX user_tasks_by_instance ON user_tasks (instance, (state = 'CREATED'));
CREATE INDEX user_tasks_by_assignee ON user_tasks (assignee) WHERE assignee IS NOT NULL;
-- Those that are open are asked for by an expression: of it there are statistics, while state and assignee are taken for independent, and
-- somebody who has done much would seem to have much to do. (Not partial: of such an index it uses no statistics.)
CREATE INDEX user_tasks_open_by_assignee ON user_tasks ((CASE WHEN state = 'CREATED' THEN assignee END));

-- Who may do them, to be found by. `open`: whether the task waits.
CREATE TABLE user_task_candidates (
    partition bigint NOT NULL,
    task      bigint NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    open      boolean NOT NULL,
    PRIMARY KEY (partition, task, kind, name)
) WITH (fillfactor = 70);

CREATE INDEX user_task_candidates_by_name ON user_task_candidates (name, kind);
-- As with assignees.
CREATE INDEX user_task_candidates_open_by_name ON user_task_candidates ((CASE WHEN open THEN name END), kind);

-- One version of a form.
CREATE TABLE forms (
    partition     bigint NOT NULL,
    key           bigint NOT NULL,
    id            text COLLATE "C" NOT NULL,
    version       integer NOT NULL,
    version_tag   text COLLATE "C",
    tenant        text COLLATE "C" NOT NULL,
    resource      bigint NOT NULL,
    resource_name text COLLATE "C" NOT NULL,
    deployment    bigint NOT NULL,
    checksum      bytea NOT NULL,
    deleted       boolean NOT NULL,
    PRIMARY KEY (partition, key)
);

CREATE UNIQUE INDEX forms_by_version ON forms (id, tenant, version, partition);

-- Instances that another called, by that one.
CREATE INDEX instances_by_parent ON instances (partition, parent_instance) WHERE parent_instance IS NOT NULL;
