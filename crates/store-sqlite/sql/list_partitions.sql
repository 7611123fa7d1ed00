SELECT partition, epoch, tail, processed_to, CASE WHEN ?1 < lease_until THEN owner END FROM partitions ORDER BY partition
