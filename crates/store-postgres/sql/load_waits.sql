-- What they wait for: jobs that are not done, and turns, which are steps of the instance itself.
SELECT j.key, j.instance, j.element_instance, NULL::bytea AS step
FROM wanted
CROSS JOIN LATERAL (SELECT * FROM jobs WHERE instance = wanted.key AND availability <> 'DONE' OFFSET 0) AS j
UNION ALL
SELECT t.key, t.instance, t.instance, t.step
FROM wanted
CROSS JOIN LATERAL (SELECT * FROM turns WHERE instance = wanted.key OFFSET 0) AS t
ORDER BY key
