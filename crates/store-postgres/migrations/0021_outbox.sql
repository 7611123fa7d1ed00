-- What else a worker is told of a job that is announced.
-- Does not break older servers.

ALTER TABLE dispatch_outbox
    ADD COLUMN lease integer NOT NULL DEFAULT 0,
    ADD COLUMN element_id text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN progress text COLLATE "C",
    ADD COLUMN trace text COLLATE "C";
