SELECT epoch, next_key, position, inbox_to FROM partitions WHERE partition = ?1
