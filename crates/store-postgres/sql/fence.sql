-- Move the partition on, if we still own it and nobody appended meanwhile. $1 partition, $2 epoch, $3 the log's end as we know it,
-- $4 how many commands are appended (only then its end matters), $5 processed up to, $6 next key.
-- All statements of a tick are sent before this one is answered. So if no row fits it must fail, and with it the transaction:
-- that is what the division is for (its error is 22012).
WITH held AS (
    UPDATE partitions SET tail = tail + $4, processed_to = $5, next_key = $6
    WHERE partition = $1 AND epoch = $2 AND ($4 = 0 OR tail = $3)
    RETURNING 1
)
SELECT (1 / count(*))::bigint AS fence, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now FROM held
