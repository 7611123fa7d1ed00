-- A partition comes into being when somebody first names it.
INSERT INTO partitions (partition, epoch, owner, lease_until, position, next_key, inbox_to, inbox_tail, inbox_total)
VALUES (?1, 0, NULL, 0, 0, ?2, 0, 0, 0)
ON CONFLICT DO NOTHING
