-- Who owns what, and how far it is.
SELECT p.partition, p.epoch, p.position, p.inbox_to, i.tail,
       CASE WHEN (extract(epoch FROM clock_timestamp()) * 1000)::bigint < p.lease_until THEN p.owner END AS owner
FROM partitions p
JOIN inboxes i ON i.partition = p.partition
ORDER BY p.partition
