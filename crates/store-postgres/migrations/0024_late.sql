-- When element instances and jobs of processes ended that took longer than most, with an index: all others are found by their keys (ADR 98).
-- Breaks older servers: they keep how far back element instances have begun, not jobs. Both tables are written anew, which takes as much room again
-- while it lasts.

-- Over a quarter of a second, or an end before the start. What is quick changes no index when it ends, so that its row stays where it is (ADR 92).
ALTER TABLE elements
    ADD COLUMN late bigint GENERATED ALWAYS AS (CASE WHEN ended - started BETWEEN 0 AND 250 THEN NULL ELSE ended END) STORED;
CREATE INDEX elements_late ON elements (late) WHERE late IS NOT NULL;
ALTER TABLE jobs
    ADD COLUMN late bigint
    GENERATED ALWAYS AS (CASE WHEN instance IS NULL OR ended - created BETWEEN 0 AND 250 THEN NULL ELSE ended END) STORED;
CREATE INDEX jobs_late ON jobs (late) WHERE late IS NOT NULL;

-- Jobs, too.
UPDATE partitions AS p SET started_latest = GREATEST(started_latest, found.latest), started_back = GREATEST(started_back, found.back)
FROM (
        SELECT partition, max(created) AS latest, max(before - created) AS back
        FROM (SELECT partition, created, max(created) OVER (PARTITION BY partition ORDER BY key) AS before FROM jobs) AS in_order
        GROUP BY partition
    ) AS found
WHERE p.partition = found.partition;
