-- By scope, so that what finished loops have left behind is never read.
SELECT key, definition, scope, name, value FROM variables
WHERE partition = ?1 AND instance = ?2 AND scope IN
    (SELECT ?2 UNION ALL SELECT key FROM elements WHERE partition = ?1 AND instance = ?2 AND state = 'ACTIVE')
ORDER BY key
