-- Element instances that came into being. $1 partition, then a column each.
INSERT INTO elements (partition, key, instance, definition, element, scope, state, phase, started, ended, incident, progress, past)
SELECT $1, given.*, given.state <> 'ACTIVE'
FROM UNNEST($2::bigint[], $3::bigint[], $4::bigint[], $5::integer[], $6::bigint[], $7::text[], $8::smallint[], $9::bigint[],
    $10::bigint[], $11::bigint[], $12::text[])
    AS given (key, instance, definition, element, scope, state, phase, started, ended, incident, progress)
