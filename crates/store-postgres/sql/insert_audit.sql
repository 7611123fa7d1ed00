-- What people did, and tries that did not end well. $1 partition, then a column each.
INSERT INTO audit (partition, key, at, actor, operation, entity, entity_key, tenant, definition, instance, element_instance, job,
    job_type, worker, dispatched, user_task, deployment, resource, form, requirements, decision, decision_id, batch, description)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::bigint[],
    $11::bigint[], $12::bigint[], $13::text[], $14::text[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[],
    $20::bigint[], $21::bigint[], $22::text[], $23::bigint[], $24::text[]) AS given
