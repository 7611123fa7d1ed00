SELECT position, request, at, expires FROM inbox WHERE partition = ?1 AND ?2 < position ORDER BY position LIMIT ?3
