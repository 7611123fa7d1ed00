-- There are as many as groups that policies limit, so they are all looked at.
DELETE FROM paces
WHERE (partition, job_type, tenant, bucket) IN
    (SELECT partition, job_type, tenant, bucket FROM paces WHERE partition = ?1 AND until <= ?2 LIMIT ?3)
