-- Work that belongs to no process, beside that of processes.
-- Breaks older servers: they would hand it out as work of a process.
--
-- `group_key`: which of the groups that a policy tells apart. The others are null for jobs of processes.
ALTER TABLE jobs
    ADD COLUMN group_key    text COLLATE "C",
    ADD COLUMN input        text COLLATE "C",
    ADD COLUMN result       text COLLATE "C",
    ADD COLUMN attempts     integer,
    ADD COLUMN started      bigint,
    ADD COLUMN unique_key   text COLLATE "C",
    ADD COLUMN unique_until bigint;

CREATE INDEX jobs_by_unique_key ON jobs ((partition + 0), tenant, job_type, unique_key, key) WHERE unique_key IS NOT NULL;
