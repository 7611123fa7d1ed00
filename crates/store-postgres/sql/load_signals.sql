-- Signals by key. $1 partition, $2 keys.
SELECT s.key, s.tenant, s.name, s.variables, s.after, s.due
FROM (SELECT DISTINCT $1 AS partition, UNNEST($2::bigint[]) AS key) AS asked
CROSS JOIN LATERAL (SELECT * FROM signals WHERE partition = asked.partition AND key = asked.key OFFSET 0) AS s
ORDER BY s.key
