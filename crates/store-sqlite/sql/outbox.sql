SELECT key, job, instance, element_instance, job_type, tenant, retries, created, payload, lease, element_id, progress, trace FROM dispatch_outbox
WHERE partition = ?1 AND key > ?2
ORDER BY key
LIMIT ?3
