-- Breaking: timers, subscriptions, messages, signals and compensations, which older servers would not look at.

-- How many called an instance, one through the other. Nobody has called any so far.
ALTER TABLE instances ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;

-- How far the body of a repeated activity has come.
ALTER TABLE elements ADD COLUMN progress TEXT;

-- Completed activities that their scopes can undo.
CREATE TABLE compensations (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    activity INTEGER NOT NULL
) STRICT;
CREATE INDEX compensations_by_instance ON compensations (partition, instance);

-- Planned firings. Those of start events have neither instance nor element instance.
CREATE TABLE timers (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    wait INTEGER NOT NULL,
    instance INTEGER,
    element_instance INTEGER,
    definition INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    element INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    armed INTEGER NOT NULL,
    number INTEGER NOT NULL,
    due INTEGER NOT NULL,
    state TEXT NOT NULL,
    created INTEGER NOT NULL,
    ended INTEGER
) STRICT;
CREATE INDEX timers_by_time ON timers (partition, due, key) WHERE state = 'PENDING';
CREATE INDEX timers_pending ON timers (partition, instance) WHERE state = 'PENDING' AND instance IS NOT NULL;
CREATE INDEX timers_by_instance ON timers (partition, instance) WHERE instance IS NOT NULL;
CREATE INDEX timers_starting ON timers (definition) WHERE state = 'PENDING' AND instance IS NULL;
CREATE INDEX timers_by_end ON timers (partition, ended) WHERE ended IS NOT NULL;

-- Waits for messages, signals, conditions and called instances. Those of start events have neither instance nor element instance.
CREATE TABLE subscriptions (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    correlation_key TEXT NOT NULL,
    child INTEGER,
    tenant TEXT NOT NULL,
    definition INTEGER NOT NULL,
    process_id TEXT NOT NULL,
    element INTEGER NOT NULL,
    catches INTEGER NOT NULL,
    instance INTEGER,
    element_instance INTEGER,
    state TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL
) STRICT;
CREATE INDEX subscriptions_to_messages ON subscriptions (partition, tenant, name, correlation_key, key)
    WHERE state = 'CREATED' AND kind = 'MESSAGE';
CREATE INDEX subscriptions_to_signals ON subscriptions (partition, tenant, name, key) WHERE state = 'CREATED' AND kind = 'SIGNAL';
CREATE INDEX subscriptions_open ON subscriptions (partition, instance) WHERE state = 'CREATED' AND instance IS NOT NULL;
CREATE INDEX subscriptions_by_instance ON subscriptions (partition, instance) WHERE instance IS NOT NULL;
CREATE INDEX subscriptions_starting ON subscriptions (definition) WHERE state = 'CREATED' AND instance IS NULL;
CREATE INDEX subscriptions_by_end ON subscriptions (partition, updated) WHERE state <> 'CREATED';

-- Messages until they expire. `taken_by`: the ids of processes they were correlated to, a line each.
CREATE TABLE messages (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    correlation_key TEXT NOT NULL,
    message_id TEXT NOT NULL,
    variables BLOB NOT NULL,
    published INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    taken_by TEXT NOT NULL
) STRICT;
CREATE INDEX messages_by_name ON messages (partition, tenant, name, correlation_key, key);
CREATE INDEX messages_by_expiry ON messages (partition, expires, key);

-- What was correlated to what.
CREATE TABLE message_correlations (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    message INTEGER NOT NULL,
    subscription INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    correlation_key TEXT NOT NULL,
    definition INTEGER NOT NULL,
    process_id TEXT NOT NULL,
    instance INTEGER NOT NULL,
    root INTEGER NOT NULL,
    element INTEGER NOT NULL,
    element_instance INTEGER,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX message_correlations_by_instance ON message_correlations (partition, instance);
CREATE INDEX message_correlations_by_time ON message_correlations (partition, at);

-- Of a process and a correlation key at most one instance runs that a message has started.
CREATE TABLE message_locks (
    partition INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    process_id TEXT NOT NULL,
    correlation_key TEXT NOT NULL,
    instance INTEGER NOT NULL,
    PRIMARY KEY (partition, tenant, process_id, correlation_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_locks_by_instance ON message_locks (partition, instance);

-- Signals on their way; subscriptions up to `after` have had them.
CREATE TABLE signals (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    variables BLOB NOT NULL,
    after INTEGER NOT NULL,
    due INTEGER NOT NULL
) STRICT;
CREATE INDEX signals_by_time ON signals (partition, due, key);

-- Where a job has headers of its own, all of them; the others have those of their element.
ALTER TABLE jobs ADD COLUMN headers TEXT;

-- Tasks for people. Candidates are a line each.
CREATE TABLE user_tasks (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    element INTEGER NOT NULL,
    element_instance INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    state TEXT NOT NULL,
    assignee TEXT,
    candidate_groups TEXT NOT NULL,
    candidate_users TEXT NOT NULL,
    due INTEGER,
    follow_up INTEGER,
    priority INTEGER NOT NULL,
    form INTEGER,
    external_form TEXT,
    created INTEGER NOT NULL,
    ended INTEGER
) STRICT;
CREATE INDEX user_tasks_waiting ON user_tasks (partition, instance) WHERE state = 'CREATED';
CREATE INDEX user_tasks_by_instance ON user_tasks (partition, instance);
CREATE INDEX user_tasks_by_assignee ON user_tasks (assignee, state, key) WHERE assignee IS NOT NULL;
CREATE INDEX user_tasks_open ON user_tasks (key) WHERE state = 'CREATED';

-- Who may do them, to be found by. `open`: whether the task waits.
CREATE TABLE user_task_candidates (
    partition INTEGER NOT NULL,
    task INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    open INTEGER NOT NULL,
    PRIMARY KEY (partition, task, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_task_candidates_by_name ON user_task_candidates (kind, name, open, task);

-- One version of a form.
CREATE TABLE forms (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    version_tag TEXT,
    tenant TEXT NOT NULL,
    resource INTEGER NOT NULL,
    resource_name TEXT NOT NULL,
    deployment INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    deleted INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX forms_by_version ON forms (partition, id, tenant, version);

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('timers', 'timers_by_time', '1000 1000 2 1'),
    ('timers', 'timers_pending', '1000 1000 2'),
    ('timers', 'timers_by_instance', '1000000 1000000 2'),
    ('timers', 'timers_starting', '100 2'),
    ('timers', 'timers_by_end', '1000000 1000000 2'),
    ('subscriptions', 'subscriptions_to_messages', '1000 1000 500 100 2 1'),
    ('subscriptions', 'subscriptions_to_signals', '1000 1000 500 100 1'),
    ('subscriptions', 'subscriptions_open', '2000 2000 2'),
    ('subscriptions', 'subscriptions_by_instance', '1000000 1000000 2'),
    ('subscriptions', 'subscriptions_starting', '100 2'),
    ('subscriptions', 'subscriptions_by_end', '1000000 1000000 2'),
    ('messages', 'messages_by_name', '10000 10000 5000 1000 2 1'),
    ('messages', 'messages_by_expiry', '10000 10000 2 1'),
    ('message_correlations', 'message_correlations_by_instance', '1000000 1000000 2'),
    ('message_correlations', 'message_correlations_by_time', '1000000 1000000 2'),
    ('message_locks', 'message_locks', '1000 1000 500 100 1'),
    ('message_locks', 'message_locks_by_instance', '1000 1000 1'),
    ('signals', 'signals_by_time', '10 10 2 1'),
    ('user_tasks', 'user_tasks_waiting', '10000 10000 2'),
    ('user_tasks', 'user_tasks_by_instance', '1000000 1000000 2'),
    ('user_tasks', 'user_tasks_by_assignee', '500000 1000 500 1'),
    ('user_tasks', 'user_tasks_open', '10000 1'),
    ('user_task_candidates', 'user_task_candidates', '2000000 2000000 2 2 1'),
    ('user_task_candidates', 'user_task_candidates_by_name', '2000000 1000000 2000 200 1'),
    ('forms', 'forms_by_version', '1000 1000 10 10 1');
ANALYZE sqlite_schema;
