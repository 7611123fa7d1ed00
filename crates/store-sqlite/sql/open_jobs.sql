SELECT key, definition, element, element_instance, job_type, tenant, state, availability, due, retries, worker, deadline,
    error_code, error_message, failed_with_retries_left, created, updated, ended
FROM jobs WHERE partition = ?1 AND instance = ?2 AND availability <> 'DONE'
ORDER BY key
