-- What else a worker is told of a job that is announced. (Does not break older servers.)

ALTER TABLE dispatch_outbox ADD COLUMN lease INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dispatch_outbox ADD COLUMN element_id TEXT NOT NULL DEFAULT '';
ALTER TABLE dispatch_outbox ADD COLUMN progress TEXT;
ALTER TABLE dispatch_outbox ADD COLUMN trace TEXT;
