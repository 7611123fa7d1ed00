-- When jobs of a queue were started, where a policy says how fast they may: one row for all of them, or for each group.
-- Breaks older servers: they would keep no pace, and read policies without what they do not know.
CREATE TABLE paces (
    partition bigint NOT NULL,
    job_type  text COLLATE "C" NOT NULL,
    tenant    text COLLATE "C" NOT NULL,
    bucket    text COLLATE "C" NOT NULL,
    starts    bytea NOT NULL,
    until     bigint NOT NULL,
    PRIMARY KEY (partition, job_type, tenant, bucket)
) WITH (fillfactor = 50);
