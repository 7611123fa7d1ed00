-- What it was asked to do never changes.
UPDATE jobs
SET priority = ?3, state = ?4, availability = ?5, due = ?6, retries = ?7, worker = ?8, deadline = ?9, error_code = ?10,
    error_message = ?11, failed_with_retries_left = ?12, updated = ?13, ended = ?14, result = ?15, attempts = ?16, started = ?17,
    dispatched = ?18
WHERE partition = ?1 AND key = ?2
