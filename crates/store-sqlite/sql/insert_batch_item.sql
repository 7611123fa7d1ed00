INSERT INTO batch_items (partition, key, batch, item, tenant, kind, instance, root, state, processed, error)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
