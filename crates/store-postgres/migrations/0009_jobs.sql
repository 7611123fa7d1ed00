-- Leases and progress of jobs.
-- Breaks older servers: they would give a lease the number of another.
--
-- Both are null for a job that was handed out once and said nothing: `leases` is the number of its last lease, `progress` a JSON object.
ALTER TABLE jobs
    ADD COLUMN leases   integer,
    ADD COLUMN progress text COLLATE "C";

-- Jobs that nobody tries any more.
CREATE INDEX jobs_stuck ON jobs (key) WHERE availability = 'STUCK';
