INSERT INTO tokens (partition, instance, scope, gateway, flow, count) VALUES (?1, ?2, ?3, ?4, ?5, 1)
ON CONFLICT DO UPDATE SET count = count + 1
