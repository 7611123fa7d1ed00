-- How many ready jobs come before a place in their queue. $1 partition, $2 type, $3 tenant, $4 priority, $5 key.
SELECT
    (SELECT count(*) FROM jobs
     WHERE partition + 0 = $1 AND job_type = $2 AND tenant = $3 AND priority > $4
       AND (CASE WHEN availability = 'READY' THEN key END) IS NOT NULL)
    + (SELECT count(*) FROM jobs
     WHERE partition + 0 = $1 AND job_type = $2 AND tenant = $3 AND priority = $4
       AND (CASE WHEN availability = 'READY' THEN key END) < $5)
