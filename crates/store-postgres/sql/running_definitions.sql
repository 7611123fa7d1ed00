-- Definitions with running instances, the newest first. $1 partition, $2 limit.
-- From each definition to the next older one by the index: however many instances run, no more than one of each definition is read.
-- (An EXISTS would be turned into a join over all of them.)
WITH RECURSIVE running (definition) AS (
    SELECT max(definition) FROM instances WHERE state = 'ACTIVE'
    UNION ALL
    SELECT (SELECT max(definition) FROM instances WHERE state = 'ACTIVE' AND definition < running.definition)
    FROM running WHERE definition IS NOT NULL
)
SELECT definition FROM running
WHERE (SELECT true FROM instances AS i WHERE i.definition = running.definition AND i.partition = $1 AND i.state = 'ACTIVE' LIMIT 1)
ORDER BY definition DESC
LIMIT $2
