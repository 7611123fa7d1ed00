-- Why a fence does not hold. $1 partition.
SELECT epoch, tail FROM partitions WHERE partition = $1
