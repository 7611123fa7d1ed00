SELECT group_key, count(*) FROM jobs
WHERE partition = ?1 AND due IS NOT NULL AND job_type = ?2 AND tenant = ?3 AND availability = 'BACKING_OFF'
    AND failed_with_retries_left = 1
GROUP BY group_key ORDER BY group_key
