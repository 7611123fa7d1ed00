UPDATE partitions SET inbox_tail = ?2, inbox_total = ?3 WHERE partition = ?1
