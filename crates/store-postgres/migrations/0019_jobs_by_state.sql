-- Jobs of processes by their state, in the order of their keys.
-- Does not break older servers.

-- Most have completed: those are found by going through all.
CREATE INDEX jobs_by_state ON jobs (state, partition, key) WHERE state <> 'COMPLETED' AND instance IS NOT NULL;
