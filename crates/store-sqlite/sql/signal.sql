SELECT key, tenant, name, variables, after, due FROM signals WHERE partition = ?1 AND key = ?2
