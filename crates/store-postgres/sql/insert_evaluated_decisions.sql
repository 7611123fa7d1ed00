-- What evaluations looked at. $1 partition, then a column each.
INSERT INTO evaluated_decisions (partition, key, evaluation, place, decision, decision_id, name, version, kind, requirements,
    root_decision, tenant, evaluated, output, details, instance, definition, element_instance)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::bigint[], $4::integer[], $5::bigint[], $6::text[], $7::text[], $8::integer[], $9::text[],
    $10::bigint[], $11::bigint[], $12::text[], $13::bigint[], $14::text[], $15::bytea[], $16::bigint[], $17::bigint[],
    $18::bigint[]) AS given
