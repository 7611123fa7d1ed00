-- How many tokens wait at joins. $1 partition, then a column each.
INSERT INTO tokens (partition, instance, scope, gateway, flow, count)
SELECT $1, given.*
FROM UNNEST($2::bigint[], $3::bigint[], $4::integer[], $5::integer[], $6::integer[]) AS given
ON CONFLICT (partition, instance, scope, gateway, flow) DO UPDATE SET count = excluded.count
