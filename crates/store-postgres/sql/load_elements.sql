-- Their live element instances.
SELECT e.key, e.instance, e.definition, e.element, e.scope, e.state, e.phase, e.started, e.ended, e.incident, e.progress
FROM wanted
CROSS JOIN LATERAL (SELECT * FROM elements WHERE instance = wanted.key AND NOT past AND state = 'ACTIVE' OFFSET 0) AS e
ORDER BY e.key
