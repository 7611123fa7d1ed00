-- Open user tasks by key. $1 partition, $2 keys.
SELECT t.key, t.instance, t.definition, t.element, t.element_instance, t.tenant, t.state, t.assignee, t.candidate_groups,
    t.candidate_users, t.due, t.follow_up, t.priority, t.form, t.external_form, t.created, t.ended, t.transition
FROM (SELECT DISTINCT $1 AS partition, UNNEST($2::bigint[]) AS key) AS asked
CROSS JOIN LATERAL (SELECT * FROM user_tasks WHERE partition = asked.partition AND key = asked.key OFFSET 0) AS t
WHERE t.ended IS NULL
ORDER BY t.key
