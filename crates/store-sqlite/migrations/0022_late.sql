-- When element instances and jobs of processes ended that took longer than most, with an index: all others are found by their keys (ADR 98).
-- Breaks older servers: they keep how far back element instances have begun, not jobs.

-- Over a quarter of a second, or an end before the start.
ALTER TABLE elements
    ADD COLUMN late INTEGER GENERATED ALWAYS AS (CASE WHEN ended - started BETWEEN 0 AND 250 THEN NULL ELSE ended END) VIRTUAL;
CREATE INDEX elements_late ON elements (late) WHERE late IS NOT NULL;
ALTER TABLE jobs
    ADD COLUMN late INTEGER
    GENERATED ALWAYS AS (CASE WHEN instance IS NULL OR ended - created BETWEEN 0 AND 250 THEN NULL ELSE ended END) VIRTUAL;
CREATE INDEX jobs_late ON jobs (late) WHERE late IS NOT NULL;

-- Jobs, too, in the order of their primary key. (Over all partitions, as before.)
UPDATE partitions SET started_latest = max(started_latest, found.latest), started_back = max(started_back, found.back)
FROM (
        SELECT max(created) AS latest, max(before - created) AS back
        FROM (SELECT created, max(created) OVER (ORDER BY key ROWS UNBOUNDED PRECEDING) AS before FROM jobs)
    ) AS found
WHERE found.latest IS NOT NULL;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('elements', 'elements_late', '10000 2'), ('jobs', 'jobs_late', '10000 2');
ANALYZE sqlite_schema;
