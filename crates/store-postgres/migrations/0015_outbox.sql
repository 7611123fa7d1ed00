-- Jobs that are to be announced through a broker.
-- Breaks older servers: they would not tell anybody of jobs that are leased for that.

-- In the order of their keys; empty where workers ask for their jobs.
CREATE TABLE dispatch_outbox (
    partition        bigint NOT NULL,
    key              bigint NOT NULL,
    job              bigint NOT NULL,
    instance         bigint NOT NULL,
    element_instance bigint NOT NULL,
    job_type         text COLLATE "C" NOT NULL,
    tenant           text COLLATE "C" NOT NULL,
    retries          integer NOT NULL,
    created          bigint NOT NULL,
    payload          text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, key)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- As in migration 3: what callers send may be large.
DO $$
BEGIN
    ALTER TABLE dispatch_outbox ALTER COLUMN payload SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    ALTER TABLE dispatch_outbox ALTER COLUMN payload SET STORAGE EXTERNAL;
END $$;
