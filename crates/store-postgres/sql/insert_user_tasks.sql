-- New user tasks. $1 partition, then a column each.
INSERT INTO user_tasks (partition, key, state, assignee, candidate_groups, candidate_users, due, follow_up, priority, ended, transition, instance,
    definition, element, element_instance, tenant, form, external_form, created)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::integer[], $10::bigint[],
    $11::bytea[], $12::bigint[], $13::bigint[], $14::integer[], $15::bigint[], $16::text[], $17::bigint[], $18::text[], $19::bigint[]) AS given
