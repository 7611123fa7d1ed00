-- Where active incidents belong. $1 partition, $2 keys.
SELECT c.key, c.instance
FROM (SELECT DISTINCT $1 AS partition, UNNEST($2::bigint[]) AS key) AS asked
CROSS JOIN LATERAL (SELECT * FROM incidents WHERE partition = asked.partition AND key = asked.key OFFSET 0) AS c
WHERE c.resolved IS NULL
ORDER BY c.key
