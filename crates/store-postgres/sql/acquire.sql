-- Take a partition whose lease has run out, that nobody has, or that we had before. $1 partition, $2 owner, $3 lease in
-- milliseconds. No row comes back while somebody else holds it.
-- The clock is read after the row is locked: whoever waited for the lock decides by the time at which it got it. A lease that ends
-- later than any could is from before the clock was set back.
UPDATE partitions p
SET epoch = p.epoch + 1, owner = $2, lease_until = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $3
WHERE p.partition = $1 AND (p.owner IS NULL OR p.owner = $2
    OR p.lease_until <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint
    OR p.lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 2 * $3)
RETURNING epoch, position, inbox_to, next_key, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
