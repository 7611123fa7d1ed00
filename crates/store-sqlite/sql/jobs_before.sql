SELECT
    (SELECT count(*) FROM jobs
     WHERE partition = ?1 AND job_type = ?2 AND tenant = ?3 AND availability = 'READY' AND ?4 < priority)
    + (SELECT count(*) FROM jobs
     WHERE partition = ?1 AND job_type = ?2 AND tenant = ?3 AND availability = 'READY' AND priority = ?4 AND key < ?5)
