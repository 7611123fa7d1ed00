-- The log belongs to its owner alone; others write to an inbox.
-- Breaks older servers: they would look for their requests in the log.
--
-- Requests that were not processed move into the inbox under the positions they have; the log ends before them. Rows of the log have
-- neither request nor answer: answers are kept for a time, beside the log, for those who wait for them elsewhere.
-- Afterwards, in code: tokens, which were bytes in the row of their instance, get rows, and that column goes.

-- Where an inbox ends. A row of its own, so that those who append and the owner who commits do not wait for each other.
CREATE TABLE inboxes (
    partition bigint PRIMARY KEY,
    tail      bigint NOT NULL,
    -- The bytes of all requests since the inbox began.
    total     bigint NOT NULL
) WITH (fillfactor = 10);

CREATE TABLE inbox (
    partition bigint NOT NULL,
    position  bigint NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    at        bigint NOT NULL,
    expires   bigint,
    request   bytea NOT NULL,
    -- The bytes of all requests up to this one since the inbox began: those that wait are the difference of two.
    total     bigint NOT NULL,
    PRIMARY KEY (partition, position)
);

-- What became of requests of the inbox.
CREATE TABLE answers (
    partition bigint NOT NULL,
    position  bigint NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    at        bigint NOT NULL,
    answer    bytea NOT NULL,
    expires   bigint NOT NULL,
    PRIMARY KEY (partition, position)
);

CREATE INDEX answers_by_expiry ON answers ((partition + 0), expires);

INSERT INTO inbox (partition, position, kind, at, request, total)
SELECT l.partition, l.position, l.kind, l.at, coalesce(l.request, ''),
    sum(octet_length(coalesce(l.request, ''))) OVER (PARTITION BY l.partition ORDER BY l.position)
FROM partitions p
JOIN log l ON l.partition = p.partition AND l.position > p.processed_to;

INSERT INTO inboxes (partition, tail, total)
SELECT p.partition, p.tail, coalesce((SELECT max(i.total) FROM inbox i WHERE i.partition = p.partition), 0)
FROM partitions p;

DELETE FROM log l USING partitions p WHERE l.partition = p.partition AND l.position > p.processed_to;
ALTER TABLE log DROP COLUMN request, DROP COLUMN answer;

ALTER TABLE partitions DROP CONSTRAINT partitions_check;
UPDATE partitions SET tail = processed_to;
ALTER TABLE partitions RENAME COLUMN tail TO position;
ALTER TABLE partitions RENAME COLUMN processed_to TO inbox_to;
ALTER TABLE partitions ADD CHECK (0 <= inbox_to);

-- Tokens that wait at joins.
CREATE TABLE tokens (
    partition bigint NOT NULL,
    instance  bigint NOT NULL,
    scope     bigint NOT NULL,
    gateway   integer NOT NULL,
    flow      integer NOT NULL,
    count     integer NOT NULL,
    PRIMARY KEY (partition, instance, scope, gateway, flow)
) WITH (fillfactor = 80);

-- Instances that go on with a step that took long.
CREATE TABLE turns (
    partition bigint NOT NULL,
    key       bigint NOT NULL,
    instance  bigint NOT NULL,
    due       bigint NOT NULL,
    -- What is left of the step.
    step      bytea NOT NULL,
    PRIMARY KEY (partition, key)
);

CREATE INDEX turns_by_instance ON turns (instance);
-- The key is written so that who looks for a turn by its key does not come by here (see migration 3).
CREATE INDEX turns_by_time ON turns ((partition + 0), due, (key + 0));

-- As in migration 3: what may be large is compressed quickly or not at all.
DO $$
DECLARE
    large record;
BEGIN
    FOR large IN VALUES ('inbox', 'request'), ('answers', 'answer'), ('turns', 'step')
    LOOP
        BEGIN
            EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET COMPRESSION lz4', large.column1, large.column2);
        EXCEPTION WHEN feature_not_supported THEN
            EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STORAGE EXTERNAL', large.column1, large.column2);
        END;
    END LOOP;
END $$;

-- The ids of its flows, in its order; not known of those deployed before.
ALTER TABLE definitions ADD COLUMN flows bytea;

-- A job may belong to no process, and some go before others.
ALTER TABLE jobs
    ALTER COLUMN instance DROP NOT NULL,
    ALTER COLUMN definition DROP NOT NULL,
    ALTER COLUMN element DROP NOT NULL,
    ALTER COLUMN element_instance DROP NOT NULL,
    ADD COLUMN priority integer NOT NULL DEFAULT 0;
ALTER TABLE jobs ALTER COLUMN priority DROP DEFAULT;

DROP INDEX jobs_ready;
CREATE INDEX jobs_ready
    ON jobs ((partition + 0), job_type, tenant, priority DESC, (CASE WHEN availability = 'READY' THEN key END))
    WHERE (CASE WHEN availability = 'READY' THEN key END) IS NOT NULL;
