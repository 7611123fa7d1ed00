-- Breaking: older servers would raise and resolve incidents without counting them.

-- How many open incidents there are in an instance or an element instance, in what is inside it, and in what that has called. None is
-- NULL, so that rows without any are no longer than before.
ALTER TABLE instances ADD COLUMN stuck INTEGER;
ALTER TABLE elements ADD COLUMN stuck INTEGER;

CREATE TEMPORARY TABLE counted (key INTEGER NOT NULL PRIMARY KEY, stuck INTEGER NOT NULL);
INSERT INTO counted (key, stuck)
    WITH RECURSIVE above (incident, key) AS (
        SELECT key, element_instance FROM incidents WHERE resolved IS NULL
        UNION
        SELECT above.incident, inner.scope FROM above JOIN elements AS inner ON inner.key = above.key
        UNION
        SELECT above.incident, called.parent_element FROM above JOIN instances AS called ON called.key = above.key
        WHERE called.parent_element IS NOT NULL
    )
    SELECT key, count(*) AS stuck FROM above GROUP BY key;
UPDATE instances SET stuck = (SELECT stuck FROM counted WHERE counted.key = instances.key) WHERE key IN (SELECT key FROM counted);
UPDATE elements SET stuck = (SELECT stuck FROM counted WHERE counted.key = elements.key) WHERE key IN (SELECT key FROM counted);
DROP TABLE counted;

DROP INDEX instances_stuck;
CREATE INDEX instances_stuck ON instances (key) WHERE stuck IS NOT NULL;
CREATE INDEX elements_stuck ON elements (key) WHERE stuck IS NOT NULL;

-- As in the first migration: what the planner is to believe.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('instances', 'instances_stuck', '100 1'),
    ('elements', 'elements_stuck', '200 1');
ANALYZE sqlite_schema;
