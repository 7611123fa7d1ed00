UPDATE partitions SET lease_until = ?3 WHERE partition = ?1 AND epoch = ?2 RETURNING inbox_tail
