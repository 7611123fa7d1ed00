INSERT INTO batch_operations
    (partition, key, tenant, kind, state, actor, started, ended, due, total, completed, failed, after, asked, error)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT DO UPDATE SET state = excluded.state, started = excluded.started, ended = excluded.ended, due = excluded.due,
    total = excluded.total, completed = excluded.completed, failed = excluded.failed, after = excluded.after, error = excluded.error
