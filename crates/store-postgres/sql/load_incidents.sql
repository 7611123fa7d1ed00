-- Their active incidents.
SELECT c.key, c.instance, c.definition, c.element, c.element_instance, c.job, c.kind, c.message, c.created, c.resolved
FROM wanted
JOIN incidents c ON c.partition = wanted.partition AND c.instance = wanted.key
WHERE c.resolved IS NULL
ORDER BY c.key
