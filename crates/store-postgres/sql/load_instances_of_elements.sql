-- Where live element instances belong. $1 partition, $2 keys.
SELECT e.key, e.instance
FROM (SELECT DISTINCT $1 AS partition, UNNEST($2::bigint[]) AS key) AS asked
CROSS JOIN LATERAL (SELECT * FROM elements WHERE partition = asked.partition AND key = asked.key OFFSET 0) AS e
WHERE e.state = 'ACTIVE'
ORDER BY e.key
