-- A partition comes into being when somebody first names it.
INSERT INTO partitions (partition, epoch, owner, lease_until, tail, processed_to, next_key)
VALUES (?1, 0, NULL, 0, 0, 0, ?2)
ON CONFLICT DO NOTHING
