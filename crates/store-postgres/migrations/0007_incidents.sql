-- What is stuck below.
-- Breaks older servers: they would raise and resolve incidents without counting them.

-- How many open incidents there are in an instance or an element instance, in what is inside it, and in what that has called. None is
-- NULL, so that rows without any are no longer than before.
ALTER TABLE instances ADD COLUMN stuck integer;
ALTER TABLE elements ADD COLUMN stuck integer;

CREATE TEMPORARY TABLE counted ON COMMIT DROP AS
WITH RECURSIVE above (incident, partition, key) AS (
    SELECT key, partition, element_instance FROM incidents WHERE resolved IS NULL
    UNION
    SELECT above.incident, above.partition, outer_of.key
    FROM above
    CROSS JOIN LATERAL (
        SELECT scope FROM elements WHERE partition = above.partition AND key = above.key
        UNION ALL
        SELECT parent_element FROM instances
        WHERE partition = above.partition AND key = above.key AND parent_element IS NOT NULL
    ) AS outer_of (key)
)
SELECT partition, key, count(*)::integer AS stuck FROM above GROUP BY partition, key;

UPDATE instances AS t SET stuck = counted.stuck FROM counted WHERE t.partition = counted.partition AND t.key = counted.key;
UPDATE elements AS t SET stuck = counted.stuck FROM counted WHERE t.partition = counted.partition AND t.key = counted.key;

CREATE INDEX instances_stuck ON instances (partition, key) WHERE stuck IS NOT NULL;
CREATE INDEX elements_stuck ON elements (partition, key) WHERE stuck IS NOT NULL;
