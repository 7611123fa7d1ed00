-- What became of requests. $1 partition, $2 positions. (Why OFFSET 0: see load.rs.)
WITH asked AS MATERIALIZED (
    SELECT DISTINCT $1 AS partition, UNNEST($2::bigint[]) AS position
)
SELECT i.position, i.kind, i.at, NULL AS answer
FROM asked
CROSS JOIN LATERAL (SELECT * FROM inbox WHERE partition = asked.partition AND position = asked.position OFFSET 0) AS i
UNION ALL
SELECT a.position, a.kind, a.at, a.answer
FROM asked
CROSS JOIN LATERAL (SELECT * FROM answers WHERE partition = asked.partition AND position = asked.position OFFSET 0) AS a
ORDER BY position
