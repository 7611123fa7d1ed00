-- What waits, by when it was made.
SELECT count(*) FILTER (WHERE created < ?4), count(*) FILTER (WHERE created < ?5), count(*) FILTER (WHERE created < ?6),
    count(*) FILTER (WHERE created < ?7), count(*) FILTER (WHERE created < ?8), count(*) FILTER (WHERE created < ?9)
FROM (
    SELECT created FROM jobs WHERE partition = ?1 AND job_type = ?2 AND tenant = ?3 AND availability = 'READY'
    UNION ALL
    SELECT created FROM jobs
    WHERE partition = ?1 AND due IS NOT NULL AND job_type = ?2 AND tenant = ?3 AND availability = 'BACKING_OFF'
)
