-- How many jobs of a queue have failed and wait for their next try, by group. $1 partition, $2 type, $3 tenant.
SELECT group_key, count(*) FROM jobs
WHERE partition + 0 = $1 AND due IS NOT NULL AND job_type = $2 AND tenant = $3 AND availability = 'BACKING_OFF'
  AND failed_with_retries_left
GROUP BY group_key
ORDER BY group_key NULLS FIRST
