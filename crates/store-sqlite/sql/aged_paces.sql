-- There are as many as groups that policies limit, so they are all looked at.
SELECT partition, job_type, tenant, bucket FROM paces WHERE partition = ?1 AND until <= ?2 LIMIT ?3
