-- Why a fence does not hold. $1 partition.
SELECT epoch, next_key FROM partitions WHERE partition = $1
