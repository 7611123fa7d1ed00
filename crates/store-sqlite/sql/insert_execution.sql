INSERT INTO jobs
    (partition, key, job_type, tenant, priority, state, availability, due, retries, worker, deadline, error_code, error_message,
     failed_with_retries_left, created, updated, ended, group_key, input, result, attempts, started, unique_key, unique_until,
     dispatched, headers)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)
