INSERT OR REPLACE INTO schedules (partition, key, tenant, reference, action, cron, due, schedule)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
