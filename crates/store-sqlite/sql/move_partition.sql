UPDATE partitions SET tail = ?2, processed_to = ?3, next_key = ?4 WHERE partition = ?1
