-- When jobs were started, bucket by bucket. $1 partition, then a column each.
INSERT INTO paces (partition, job_type, tenant, bucket, starts, until)
SELECT $1, given.* FROM UNNEST($2::text[], $3::text[], $4::text[], $5::bytea[], $6::bigint[]) AS given
ON CONFLICT (partition, job_type, tenant, bucket) DO UPDATE SET starts = excluded.starts, until = excluded.until
