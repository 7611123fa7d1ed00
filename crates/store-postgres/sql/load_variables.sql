-- The variables of their live scopes, the instance itself being the outermost one.
, scopes AS MATERIALIZED (
    SELECT key AS instance, key AS scope FROM wanted
    UNION ALL
    SELECT wanted.key, e.key
    FROM wanted
    CROSS JOIN LATERAL (SELECT key FROM elements WHERE instance = wanted.key AND NOT past AND state = 'ACTIVE' OFFSET 0) AS e
)
SELECT v.key, v.instance, v.definition, v.scope, v.name, v.value
FROM scopes
CROSS JOIN LATERAL (SELECT * FROM variables WHERE instance = scopes.instance AND scope = scopes.scope OFFSET 0) AS v
ORDER BY v.key
