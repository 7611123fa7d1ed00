-- Hold the lease longer while no newer epoch exists. $1 partition, $2 epoch, $3 lease in milliseconds.
UPDATE partitions
SET lease_until = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $3
WHERE partition = $1 AND epoch = $2
RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, (SELECT tail FROM inboxes i WHERE i.partition = $1)
