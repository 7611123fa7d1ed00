-- Let the lease end now. $1 partition, $2 epoch.
UPDATE partitions SET lease_until = 0 WHERE partition = $1 AND epoch = $2
