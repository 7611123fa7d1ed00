-- Who owns what, and how far it is.
SELECT partition, epoch, tail, processed_to,
       CASE WHEN (extract(epoch FROM clock_timestamp()) * 1000)::bigint < lease_until THEN owner END AS owner
FROM partitions
ORDER BY partition
