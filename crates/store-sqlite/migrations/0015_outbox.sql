-- Breaking: older servers would not tell anybody of jobs that are leased to be announced.

-- Jobs that are to be announced through a broker, in the order of their keys; empty where workers ask for them.
CREATE TABLE dispatch_outbox (
    partition        INTEGER NOT NULL,
    key              INTEGER NOT NULL,
    job              INTEGER NOT NULL,
    instance         INTEGER NOT NULL,
    element_instance INTEGER NOT NULL,
    job_type         TEXT NOT NULL,
    tenant           TEXT NOT NULL,
    retries          INTEGER NOT NULL,
    created          INTEGER NOT NULL,
    payload          TEXT NOT NULL,
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;
