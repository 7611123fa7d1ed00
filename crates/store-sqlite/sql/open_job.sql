SELECT key, instance, definition, element, element_instance, job_type, tenant, priority, state, availability, due, retries,
    worker, deadline, error_code, error_message, failed_with_retries_left, created, updated, ended, headers,
    attempts, denied, dispatched, group_key, input, kind, leases, progress, result, started, unique_key, unique_until,
FROM jobs WHERE partition = ?1 AND key = ?2 AND availability <> 'DONE'
