-- Where a job belongs never changes.
UPDATE jobs
SET state = ?3, availability = ?4, due = ?5, retries = ?6, worker = ?7, deadline = ?8, error_code = ?9, error_message = ?10,
    failed_with_retries_left = ?11, updated = ?12, ended = ?13
WHERE partition = ?1 AND key = ?2
