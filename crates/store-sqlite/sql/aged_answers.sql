SELECT partition, position FROM answers WHERE partition = ?1 AND expires <= ?2 ORDER BY expires LIMIT ?3
