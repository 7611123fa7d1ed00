-- Where a job belongs never changes.
UPDATE jobs
SET priority = ?3, state = ?4, availability = ?5, due = ?6, retries = ?7, worker = ?8, deadline = ?9, error_code = ?10,
    error_message = ?11, failed_with_retries_left = ?12, updated = ?13, ended = ?14, denied = ?15, dispatched = ?16
WHERE partition = ?1 AND key = ?2
