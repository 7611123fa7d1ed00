SELECT epoch, tail FROM partitions WHERE partition = ?1
