-- Take a partition whose lease has run out, that nobody has, or that we had before. $1 partition, $2 owner, $3 lease in
-- milliseconds, $4 the first key of the partition. No row comes back while somebody else holds it.
-- The clock is read after the row is locked: whoever waited for the lock decides by the time at which it got it.
INSERT INTO partitions AS p (partition, epoch, owner, lease_until, tail, processed_to, next_key)
VALUES ($1, 1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $3, 0, 0, $4)
ON CONFLICT (partition) DO UPDATE
SET epoch = p.epoch + 1, owner = excluded.owner, lease_until = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $3
WHERE p.owner IS NULL OR p.owner = excluded.owner OR p.lease_until <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint
RETURNING epoch, tail, processed_to, next_key, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
