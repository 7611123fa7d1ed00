INSERT INTO signals (partition, key, tenant, name, variables, after, due) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT DO UPDATE SET after = excluded.after, due = excluded.due
