SELECT key, instance, definition, element, element_instance, job_type, tenant, priority, state, availability, due, retries,
    worker, deadline, error_code, error_message, failed_with_retries_left, created, updated, ended, headers,
    kind, denied, group_key, input, result, attempts, started, unique_key, unique_until, dispatched, leases, progress
FROM jobs WHERE partition = ?1 AND key = ?2 AND availability <> 'DONE'
