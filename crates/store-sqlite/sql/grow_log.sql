UPDATE partitions SET tail = tail + ?2 WHERE partition = ?1 RETURNING tail
