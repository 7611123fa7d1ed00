SELECT id, tenant, max(version) FROM decisions WHERE partition = ?1 GROUP BY id, tenant
