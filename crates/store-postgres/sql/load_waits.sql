-- What they wait for: jobs that are not done, user tasks, turns, which are steps of the instance itself, pending timers and open
-- subscriptions; and what they can undo. All in one statement, since most wait for jobs alone. `what` says which; what a kind does not
-- have is absent.
SELECT j.key, j.instance, j.element_instance, NULL::bigint AS definition, NULL AS tenant, NULL::integer AS element, NULL AS state,
    NULL AS kind, NULL::bigint AS created, NULL::bigint AS wait, NULL AS text, NULL::bigint AS armed, NULL::integer AS number,
    NULL::bigint AS due, NULL::bigint AS ended, NULL AS name, NULL AS correlation_key, NULL::bigint AS child, NULL AS process_id,
    NULL::boolean AS catches, NULL::bigint AS updated, NULL::bytea AS step, 'JOB' AS what
FROM wanted
CROSS JOIN LATERAL (SELECT * FROM jobs WHERE instance = wanted.key AND availability <> 'DONE' OFFSET 0) AS j
UNION ALL
SELECT u.key, u.instance, u.element_instance, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, 'USER_TASK'
FROM wanted
CROSS JOIN LATERAL (SELECT * FROM user_tasks WHERE instance = wanted.key AND ended IS NULL OFFSET 0) AS u
UNION ALL
SELECT t.key, t.instance, t.instance, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, t.step, 'TURN'
FROM wanted
CROSS JOIN LATERAL (SELECT * FROM turns WHERE instance = wanted.key OFFSET 0) AS t
UNION ALL
SELECT t.key, t.instance, t.element_instance, t.definition, t.tenant, t.element, t.state, t.kind, t.created,
    t.wait, t.text, t.armed, t.number, t.due, t.ended, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'TIMER'
FROM wanted
CROSS JOIN LATERAL (SELECT * FROM timers WHERE instance = wanted.key AND state = 'PENDING' OFFSET 0) AS t
UNION ALL
SELECT s.key, s.instance, s.element_instance, s.definition, s.tenant, s.element, s.state, s.kind, s.created,
    NULL, NULL, NULL, NULL, NULL, NULL, s.name, s.correlation_key, s.child, s.process_id, s.catches, s.updated, NULL,
    'SUBSCRIPTION'
FROM wanted
CROSS JOIN LATERAL (SELECT * FROM subscriptions WHERE instance = wanted.key AND state = 'CREATED' OFFSET 0) AS s
UNION ALL
SELECT c.key, c.instance, c.scope, NULL, NULL, c.activity, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, 'COMPENSATION'
FROM wanted
CROSS JOIN LATERAL (SELECT * FROM compensations WHERE instance = wanted.key OFFSET 0) AS c
ORDER BY key
