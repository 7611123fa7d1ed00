SELECT key, batch, item, tenant, kind, instance, root, state, processed, error
FROM batch_items WHERE batch = ?1 AND state = 'ACTIVE' ORDER BY key LIMIT ?2
