-- Leases and progress of jobs, what is submitted again and again, and what has happened in queues.
-- Breaks older servers: they would give a lease the number of another.
--
-- Both are null for a job that was handed out once and said nothing: `leases` is the number of its last lease, `progress` a JSON object.
ALTER TABLE jobs
    ADD COLUMN leases   integer,
    ADD COLUMN progress text COLLATE "C";

-- Jobs that nobody tries any more.
CREATE INDEX jobs_stuck ON jobs (key) WHERE availability = 'STUCK';

-- What is submitted again and again. `schedule` is all of it; `due` is null where there is no next time.
CREATE TABLE schedules (
    partition bigint NOT NULL,
    key       bigint NOT NULL,
    tenant    text COLLATE "C" NOT NULL,
    reference text COLLATE "C" NOT NULL,
    action    text COLLATE "C" NOT NULL,
    cron      text COLLATE "C" NOT NULL,
    due       bigint,
    schedule  bytea NOT NULL,
    PRIMARY KEY (partition, key)
);
CREATE INDEX schedules_due ON schedules ((partition + 0), due, (key + 0)) WHERE due IS NOT NULL;

-- What has happened in queues, as of `updated`. Times and percentiles are in milliseconds; `stats` is what it goes on from.
CREATE TABLE queue_stats (
    partition   bigint NOT NULL,
    job_type    text COLLATE "C" NOT NULL,
    tenant      text COLLATE "C" NOT NULL,
    waiting     bigint NOT NULL,
    running     bigint NOT NULL,
    enqueued    bigint NOT NULL,
    started     bigint NOT NULL,
    completed   bigint NOT NULL,
    failed      bigint NOT NULL,
    timed_out   bigint NOT NULL,
    cancelled   bigint NOT NULL,
    wait_p50    bigint,
    wait_p95    bigint,
    wait_p99    bigint,
    run_p50     bigint,
    run_p95     bigint,
    run_p99     bigint,
    progressed  bigint NOT NULL,
    stuck_since bigint,
    updated     bigint NOT NULL,
    stats       bytea NOT NULL,
    PRIMARY KEY (partition, job_type, tenant)
);
