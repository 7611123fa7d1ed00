-- Items whose turn has not come, as the index has them. $1 operation, $2 limit.
SELECT key, batch, item, tenant, kind, instance, root, state, processed, error
FROM batch_items
WHERE batch = $1 AND (CASE WHEN state = 'ACTIVE' THEN key END) IS NOT NULL
ORDER BY (CASE WHEN state = 'ACTIVE' THEN key END)
LIMIT $2
