-- An operation over many. $1 key.
SELECT key, tenant, state, actor, started, ended, due, total, completed, failed, after, asked, error
FROM batch_operations WHERE key = $1
