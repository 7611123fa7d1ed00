-- All that end by themselves at a time, of which those that run are some.
SELECT group_key, count(*) FROM jobs
WHERE partition = ?1 AND due IS NOT NULL AND job_type = ?2 AND tenant = ?3 AND availability = 'LEASED'
GROUP BY group_key ORDER BY group_key
