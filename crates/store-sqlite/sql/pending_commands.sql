SELECT position, request FROM log
WHERE partition = ?1 AND position > max(?2, (SELECT processed_to FROM partitions WHERE partition = ?1))
ORDER BY position LIMIT ?3
