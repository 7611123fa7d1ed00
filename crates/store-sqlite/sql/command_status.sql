SELECT kind, at, position <= (SELECT processed_to FROM partitions WHERE partition = ?1), answer
FROM log WHERE partition = ?1 AND position = ?2
