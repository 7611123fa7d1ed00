-- The variables of their live scopes.
SELECT v.key, v.instance, v.definition, v.scope, v.name, v.value
FROM wanted
JOIN variables v ON v.partition = wanted.partition AND v.instance = wanted.key
WHERE v.scope = v.instance
   OR EXISTS (SELECT FROM elements e WHERE e.partition = v.partition AND e.key = v.scope AND e.ended IS NULL)
ORDER BY v.key
