-- Their jobs that are not done.
SELECT j.key, j.instance, j.definition, j.element, j.element_instance, j.job_type, j.tenant, j.state, j.availability, j.due,
    j.retries, j.worker, j.deadline, j.error_code, j.error_message, j.failed_with_retries_left, j.created, j.updated, j.ended
FROM wanted
JOIN jobs j ON j.partition = wanted.partition AND j.instance = wanted.key
WHERE j.availability <> 'DONE'
ORDER BY j.key
