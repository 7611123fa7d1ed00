-- Announcements that were told. $1 partition, $2 keys. (Why OFFSET 0 and ANY: see commit/mod.rs.)
DELETE FROM dispatch_outbox AS t
USING (SELECT $1 AS partition, given.key FROM UNNEST($2::bigint[]) AS given (key) OFFSET 0) AS given
WHERE t.partition = ANY (ARRAY[given.partition]) AND t.key = given.key
