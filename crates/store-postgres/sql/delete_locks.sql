-- Locks of instances that have ended. $1 partition, then a column each. (Why OFFSET 0 and ANY: see commit/mod.rs.)
DELETE FROM message_locks AS t
USING (
    SELECT $1 AS partition, given.*
    FROM UNNEST($2::text[], $3::text[], $4::text[]) AS given (tenant, process_id, correlation_key)
    OFFSET 0
) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.tenant = given.tenant AND t.process_id = given.process_id
  AND t.correlation_key = given.correlation_key
