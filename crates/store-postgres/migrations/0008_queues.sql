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

-- Of jobs with a group those that wait for a worker. The group comes first, so that nobody who asks for a queue is served by it.
CREATE INDEX jobs_ready_by_group
    ON jobs (group_key, (partition + 0), job_type, tenant, priority DESC, (CASE WHEN availability = 'READY' THEN key END))
    WHERE (CASE WHEN availability = 'READY' THEN key END) IS NOT NULL AND group_key IS NOT NULL;

-- Every version there ever was. `policy` is empty where it was deleted.
CREATE TABLE policies (
    partition  bigint NOT NULL,
    reference  text COLLATE "C" NOT NULL,
    version    integer NOT NULL,
    policy     bytea NOT NULL,
    changed    bigint NOT NULL,
    changed_by text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, reference, version)
);

CREATE INDEX jobs_by_unique_key ON jobs ((partition + 0), tenant, job_type, unique_key, key) WHERE unique_key IS NOT NULL;

-- As in migration 3: what callers send may be large.
DO $$
DECLARE
    large record;
BEGIN
    FOR large IN VALUES ('jobs', 'input'), ('jobs', 'result')
    LOOP
        BEGIN
            EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET COMPRESSION lz4', large.column1, large.column2);
        EXCEPTION WHEN feature_not_supported THEN
            EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STORAGE EXTERNAL', large.column1, large.column2);
        END;
    END LOOP;
END $$;
