-- New user tasks. $1 partition, then a column each.
INSERT INTO user_tasks (partition, key, state, assignee, candidate_groups, candidate_users, due, follow_up, priority, ended, instance,
    definition, element, element_instance, tenant, form, external_form, created)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::integer[], $10::bigint[],
    $11::bigint[], $12::bigint[], $13::integer[], $14::bigint[], $15::text[], $16::bigint[], $17::text[], $18::bigint[]) AS given
