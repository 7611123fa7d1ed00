SELECT group_key, count(*) FROM (
    SELECT group_key FROM jobs WHERE partition = ?1 AND job_type = ?2 AND tenant = ?3 AND availability = 'READY'
    UNION ALL
    SELECT group_key FROM jobs
    WHERE partition = ?1 AND due IS NOT NULL AND job_type = ?2 AND tenant = ?3 AND availability = 'BACKING_OFF'
)
GROUP BY group_key ORDER BY group_key
