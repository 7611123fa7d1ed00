-- The folder is locked, so whoever had a lease is gone.
UPDATE partitions SET lease_until = 0
