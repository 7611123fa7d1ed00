-- By end and key, after a place in that order. $1 partition, $2 and $3 the place, $4 before this time, $5 limit.
SELECT i.key, i.ended, d.process_id, d.tenant, i.parent_instance IS NOT NULL
FROM (
    SELECT partition, key, ended, definition, parent_instance FROM instances
    WHERE (ended, key + 0) > ($2, $3) AND ended < $4 AND partition + 0 = $1
    ORDER BY ended NULLS FIRST, key + 0
    LIMIT $5
) AS i
CROSS JOIN LATERAL (SELECT process_id, tenant FROM definitions WHERE partition = i.partition AND key = i.definition OFFSET 0) AS d
ORDER BY i.ended, i.key
