SELECT partition, tenant, key FROM idempotent WHERE partition = ?1 AND expires <= ?2 ORDER BY expires LIMIT ?3
