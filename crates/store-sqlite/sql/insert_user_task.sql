INSERT INTO user_tasks
    (partition, key, instance, definition, element, element_instance, tenant, state, assignee, candidate_groups, candidate_users, due, follow_up,
    priority, form, external_form, created, ended, transition)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
