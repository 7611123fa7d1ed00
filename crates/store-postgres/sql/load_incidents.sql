-- Their active incidents.
SELECT c.key, c.instance, c.definition, c.element, c.element_instance, c.job, c.kind, c.message, c.created, c.resolved
FROM wanted
CROSS JOIN LATERAL (SELECT * FROM incidents WHERE instance = wanted.key AND resolved IS NULL OFFSET 0) AS c
ORDER BY c.key
