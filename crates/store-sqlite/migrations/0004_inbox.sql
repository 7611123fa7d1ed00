-- Breaking: the log belongs to its owner alone; others write to an inbox.
--
-- Requests that were not processed move into the inbox under the positions they have; the log ends before them. Rows of the log have
-- neither request nor answer: answers are kept for a time, beside the log, for those who wait for them elsewhere.
-- Afterwards, in code: tokens, which were bytes in the row of their instance, get rows, and that column goes.

-- `total` is the bytes of all requests up to this one since the inbox began, so that those that wait are the difference of two.
CREATE TABLE inbox (
    partition INTEGER NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires INTEGER,
    request BLOB NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (partition, position)
) STRICT, WITHOUT ROWID;

INSERT INTO inbox (partition, position, kind, at, request, total)
SELECT l.partition, l.position, l.kind, l.at, coalesce(l.request, x''),
    sum(length(coalesce(l.request, x''))) OVER (PARTITION BY l.partition ORDER BY l.position)
FROM partitions AS p
JOIN log AS l ON l.partition = p.partition AND l.position > p.processed_to;

CREATE TABLE log_new (
    partition INTEGER NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    instance INTEGER,
    events BLOB NOT NULL,
    PRIMARY KEY (partition, position)
) STRICT, WITHOUT ROWID;

INSERT INTO log_new
SELECT l.partition, l.position, l.kind, l.at, l.instance, coalesce(l.events, x'')
FROM partitions AS p
JOIN log AS l ON l.partition = p.partition AND l.position <= p.processed_to;
DROP TABLE log;
ALTER TABLE log_new RENAME TO log;

CREATE TABLE partitions_new (
    partition INTEGER NOT NULL PRIMARY KEY,
    epoch INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER NOT NULL,
    position INTEGER NOT NULL,
    next_key INTEGER NOT NULL,
    inbox_to INTEGER NOT NULL,
    inbox_tail INTEGER NOT NULL,
    inbox_total INTEGER NOT NULL,
    CHECK (inbox_to <= inbox_tail)
) STRICT;

INSERT INTO partitions_new
SELECT partition, epoch, owner, lease_until, processed_to, next_key, processed_to, tail,
    coalesce((SELECT max(total) FROM inbox AS i WHERE i.partition = partitions.partition), 0)
FROM partitions;
DROP TABLE partitions;
ALTER TABLE partitions_new RENAME TO partitions;

-- What became of requests of the inbox.
CREATE TABLE answers (
    partition INTEGER NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    answer BLOB NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (partition, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_by_expiry ON answers (partition, expires);

-- Tokens that wait at joins.
CREATE TABLE tokens (
    partition INTEGER NOT NULL,
    instance INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    gateway INTEGER NOT NULL,
    flow INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (partition, instance, scope, gateway, flow)
) STRICT, WITHOUT ROWID;

-- Instances that go on with a step that took long; `step` says what is left of it.
CREATE TABLE turns (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER NOT NULL,
    due INTEGER NOT NULL,
    step BLOB NOT NULL
) STRICT;
CREATE INDEX turns_by_instance ON turns (partition, instance);
CREATE INDEX turns_by_time ON turns (partition, due, key);

-- The ids of its flows, in its order; not known of those deployed before.
ALTER TABLE definitions ADD COLUMN flows BLOB;

-- A job may belong to no process, and some go before others.
CREATE TABLE jobs_new (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER,
    definition INTEGER,
    element INTEGER,
    element_instance INTEGER,
    job_type TEXT NOT NULL,
    tenant TEXT NOT NULL,
    priority INTEGER NOT NULL,
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

INSERT INTO jobs_new
SELECT partition, key, instance, definition, element, element_instance, job_type, tenant, 0, state, availability, due, retries,
    worker, deadline, error_code, error_message, failed_with_retries_left, created, updated, ended
FROM jobs;
DROP TABLE jobs;
ALTER TABLE jobs_new RENAME TO jobs;
CREATE INDEX jobs_ready ON jobs (partition, job_type, tenant, priority DESC, key) WHERE availability = 'READY';
CREATE INDEX jobs_timed ON jobs (partition, due, key) WHERE due IS NOT NULL;
CREATE INDEX jobs_open ON jobs (partition, instance) WHERE availability <> 'DONE';
CREATE INDEX jobs_by_instance ON jobs (partition, instance);

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('log', 'log', '10000000 10000000 1'),
    ('inbox', 'inbox', '1000 1000 1'),
    ('answers', 'answers', '100000 100000 1'),
    ('answers', 'answers_by_expiry', '100000 100000 2'),
    ('tokens', 'tokens', '1000 1000 3 2 1 1'),
    ('turns', 'turns_by_instance', '100 100 1'),
    ('turns', 'turns_by_time', '100 100 2 1'),
    ('jobs', 'jobs_ready', '1000 1000 100 100 10 1'),
    ('jobs', 'jobs_timed', '1000 1000 2 1'),
    ('jobs', 'jobs_open', '2000 2000 2'),
    ('jobs', 'jobs_by_instance', '1000000 1000000 2');
ANALYZE sqlite_schema;
