-- Their live element instances.
SELECT e.key, e.instance, e.definition, e.element, e.scope, e.state, e.phase, e.started, e.ended, e.incident
FROM wanted
JOIN elements e ON e.partition = wanted.partition AND e.instance = wanted.key AND e.state = 'ACTIVE'
ORDER BY e.key
