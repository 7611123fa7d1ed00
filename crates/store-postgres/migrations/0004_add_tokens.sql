-- Tokens as rows, one column each.
INSERT INTO tokens (partition, instance, scope, gateway, flow, count)
SELECT given.*, count(*)
FROM UNNEST($1::bigint[], $2::bigint[], $3::bigint[], $4::integer[], $5::integer[]) AS given (partition, instance, scope, gateway, flow)
GROUP BY given.partition, given.instance, given.scope, given.gateway, given.flow
