-- From each definition to the next older one by the index: however many instances run, no more than one of each definition is read.
WITH RECURSIVE running (definition) AS (
    SELECT max(definition) FROM instances WHERE state = 'ACTIVE'
    UNION ALL
    SELECT (SELECT max(definition) FROM instances WHERE state = 'ACTIVE' AND definition < running.definition)
    FROM running WHERE definition IS NOT NULL
)
SELECT definition FROM running
WHERE EXISTS (SELECT 1 FROM instances AS i WHERE i.definition = running.definition AND i.partition = ?1 AND i.state = 'ACTIVE')
ORDER BY definition DESC LIMIT ?2
