INSERT INTO dispatch_outbox (
    partition, key, job, instance, element_instance, job_type, tenant, retries, created, payload, lease, element_id, progress, trace)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
