SELECT kind, at, NULL FROM inbox WHERE partition = ?1 AND position = ?2
UNION ALL
SELECT kind, at, answer FROM answers WHERE partition = ?1 AND position = ?2
