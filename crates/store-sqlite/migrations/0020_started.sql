-- How far back element instances may have begun that have greater keys: in the order of keys they are found by their start (ADR 97).
-- Breaks older servers: they do not keep it.

ALTER TABLE partitions ADD COLUMN started_latest INTEGER NOT NULL DEFAULT 0;
ALTER TABLE partitions ADD COLUMN started_back INTEGER NOT NULL DEFAULT 0;
-- Over all partitions, as only that needs no memory for every row: it may say too much, never too little.
UPDATE partitions SET started_latest = found.latest, started_back = found.back
FROM (
        SELECT max(started) AS latest, max(before - started) AS back
        FROM (SELECT started, max(started) OVER (ORDER BY key ROWS UNBOUNDED PRECEDING) AS before FROM elements) AS e
    ) AS found
WHERE found.latest IS NOT NULL;
