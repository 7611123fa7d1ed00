SELECT id, tenant, max(version) FROM requirements WHERE partition = ?1 GROUP BY id, tenant
