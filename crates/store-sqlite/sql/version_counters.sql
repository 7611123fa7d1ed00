SELECT process_id, tenant, max(version) FROM definitions WHERE partition = ?1 GROUP BY process_id, tenant
