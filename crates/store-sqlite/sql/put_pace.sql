INSERT INTO paces (partition, job_type, tenant, bucket, starts, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (partition, job_type, tenant, bucket) DO UPDATE SET starts = excluded.starts, until = excluded.until
