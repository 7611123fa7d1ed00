-- What waits, by when it was made. $1 partition, $2 type, $3 tenant, then times.
SELECT count(*) FILTER (WHERE created < $4), count(*) FILTER (WHERE created < $5), count(*) FILTER (WHERE created < $6),
    count(*) FILTER (WHERE created < $7), count(*) FILTER (WHERE created < $8), count(*) FILTER (WHERE created < $9)
FROM (
    SELECT created FROM jobs
    WHERE partition + 0 = $1 AND job_type = $2 AND tenant = $3 AND (CASE WHEN availability = 'READY' THEN key END) IS NOT NULL
    UNION ALL
    SELECT created FROM jobs
    WHERE partition + 0 = $1 AND due IS NOT NULL AND job_type = $2 AND tenant = $3 AND availability = 'BACKING_OFF'
) AS waiting
