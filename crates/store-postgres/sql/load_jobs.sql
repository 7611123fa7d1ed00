-- Jobs alone that are not done. $1 partition, $2 keys.
SELECT j.key, j.instance, j.definition, j.element, j.element_instance, j.job_type, j.tenant, j.priority, j.state, j.availability,
    j.due, j.retries, j.worker, j.deadline, j.error_code, j.error_message, j.failed_with_retries_left, j.created, j.updated, j.ended,
    j.headers, j.kind, j.denied, j.group_key, j.input, j.result, j.attempts, j.started, j.unique_key, j.unique_until, j.dispatched, j.leases,
    j.progress
FROM (SELECT DISTINCT $1 AS partition, UNNEST($2::bigint[]) AS key) AS asked
CROSS JOIN LATERAL (SELECT * FROM jobs WHERE partition = asked.partition AND key = asked.key OFFSET 0) AS j
WHERE j.availability <> 'DONE'
ORDER BY j.key
