SELECT partition, epoch, position, inbox_to, inbox_tail, CASE WHEN ?1 < lease_until THEN owner END
FROM partitions ORDER BY partition
