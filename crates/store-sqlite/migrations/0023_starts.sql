-- Instances are found by their start as element instances are: by their keys (ADR 100). Element instances that are alive are counted by their index alone.
-- Breaks older servers: they begin searches with an index that is gone, and keep how far back element instances and jobs have begun, not instances.

DROP INDEX instances_by_start;
DROP INDEX elements_live;
CREATE INDEX elements_live ON elements (partition, instance, key, definition, element) WHERE state = 'ACTIVE';

-- Instances, too, in the order of their primary key. (Over all partitions, as before.)
UPDATE partitions SET started_latest = max(started_latest, found.latest), started_back = max(started_back, found.back)
FROM (
        SELECT max(started) AS latest, max(before - started) AS back
        FROM (SELECT started, max(started) OVER (ORDER BY key ROWS UNBOUNDED PRECEDING) AS before FROM instances)
    ) AS found
WHERE found.latest IS NOT NULL;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('elements', 'elements_live', '2000 2000 2 1 1 1');
ANALYZE sqlite_schema;
