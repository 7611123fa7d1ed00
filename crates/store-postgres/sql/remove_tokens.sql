-- Joins where no tokens wait any more. $1 partition, then a column each. (Why OFFSET 0 and ANY: see commit/mod.rs.)
DELETE FROM tokens AS t
USING (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::bigint[], $3::bigint[], $4::integer[], $5::integer[]) AS given (instance, scope, gateway, flow)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.instance = given.instance AND t.scope = given.scope
  AND t.gateway = given.gateway AND t.flow = given.flow
