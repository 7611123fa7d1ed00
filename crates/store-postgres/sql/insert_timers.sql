-- New timers. $1 partition, then a column each.
INSERT INTO timers (partition, key, state, due, ended, wait, instance, element_instance, definition, tenant, element, kind, text, armed,
    number, created)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::integer[], $12::text[], $13::text[], $14::bigint[], $15::integer[], $16::bigint[]) AS given
