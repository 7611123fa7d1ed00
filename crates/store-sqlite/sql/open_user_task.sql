SELECT key, instance, definition, element, element_instance, tenant, state, assignee, candidate_groups, candidate_users, due, follow_up,
    priority, form, external_form, created, ended, transition
FROM user_tasks WHERE partition = ?1 AND key = ?2 AND ended IS NULL
