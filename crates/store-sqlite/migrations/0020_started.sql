-- How far back element instances may have begun that have greater keys: in the order of keys they are found by their start (ADR 97).
-- Breaks older servers: they do not keep it.

ALTER TABLE partitions ADD COLUMN started_latest INTEGER NOT NULL DEFAULT 0;
ALTER TABLE partitions ADD COLUMN started_back INTEGER NOT NULL DEFAULT 0;
UPDATE partitions AS p SET started_latest = found.latest, started_back = found.back
FROM (
        SELECT partition, max(started) AS latest, max(before - started) AS back
        FROM (SELECT partition, started, max(started) OVER (PARTITION BY partition ORDER BY key) AS before FROM elements) AS e
        GROUP BY partition
    ) AS found
WHERE p.partition = found.partition;
