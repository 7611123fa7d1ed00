-- Instances are found by their start as element instances are: by their keys (ADR 100).
-- Breaks older servers: they keep how far back element instances and jobs have begun, not instances.

DROP INDEX instances_by_start;

UPDATE partitions AS p SET started_latest = GREATEST(started_latest, found.latest), started_back = GREATEST(started_back, found.back)
FROM (
        SELECT partition, max(started) AS latest, max(before - started) AS back
        FROM (SELECT partition, started, max(started) OVER (PARTITION BY partition ORDER BY key) AS before FROM instances) AS in_order
        GROUP BY partition
    ) AS found
WHERE p.partition = found.partition;
