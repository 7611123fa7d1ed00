UPDATE partitions SET position = ?2, next_key = ?3, inbox_to = ?4 WHERE partition = ?1
