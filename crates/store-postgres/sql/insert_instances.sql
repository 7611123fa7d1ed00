-- Instances that came into being. $1 partition, then a column each. (Incidents are counted in stuck since migration 7.)
INSERT INTO instances (partition, key, definition, state, phase, started, ended, parent_instance, parent_element, root, tags, business_id,
    depth, incidents)
SELECT $1, given.*, 0
FROM UNNEST($2::bigint[], $3::bigint[], $4::text[], $5::smallint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
    $10::bigint[], $11::text[], $12::text[], $13::integer[]) AS given
