-- Move the partition on, if we still own it and the tick before was written. $1 partition, $2 epoch, $3 the key the tick began with,
-- $4 the next one, $5 how many commands enter the log, $6 answered up to, $7 and $8 when the first and the last of what is new
-- began: how far back any may have begun is kept (ADR 97).
-- All statements of a tick are sent before this one is answered. So if no row fits it must fail, and with it the transaction:
-- that is what the division is for (its error is 22012).
WITH held AS (
    UPDATE partitions SET position = position + $5, next_key = $4, inbox_to = $6,
        started_latest = GREATEST(started_latest, $8), started_back = GREATEST(started_back, GREATEST(started_latest, $8) - $7)
    WHERE partition = $1 AND epoch = $2 AND next_key = $3
    RETURNING 1
)
SELECT (1 / count(*))::bigint AS fence, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now FROM held
