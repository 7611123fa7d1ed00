-- When jobs of a queue were started. $1 partition, $2 type, $3 tenant.
SELECT bucket, starts, until FROM paces WHERE partition = $1 AND job_type = $2 AND tenant = $3 ORDER BY bucket
