-- How many jobs of a queue wait, by group. $1 partition, $2 type, $3 tenant.
SELECT group_key, count(*)
FROM (
    SELECT group_key FROM jobs
    WHERE partition + 0 = $1 AND job_type = $2 AND tenant = $3 AND (CASE WHEN availability = 'READY' THEN key END) IS NOT NULL
    UNION ALL
    SELECT group_key FROM jobs
    WHERE partition + 0 = $1 AND due IS NOT NULL AND job_type = $2 AND tenant = $3 AND availability = 'BACKING_OFF'
) AS waiting
GROUP BY group_key
ORDER BY group_key NULLS FIRST
