-- Their tokens.
SELECT t.instance, t.instance, t.scope, t.gateway, t.flow, t.count
FROM wanted
CROSS JOIN LATERAL (SELECT * FROM tokens WHERE partition = wanted.partition AND instance = wanted.key OFFSET 0) AS t
ORDER BY t.instance, t.scope, t.gateway, t.flow
