INSERT INTO tokens (partition, instance, scope, gateway, flow, count) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT DO UPDATE SET count = excluded.count
