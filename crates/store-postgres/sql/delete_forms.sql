-- Forms nobody gets any more; they stay readable. $1 partition, $2 keys.
UPDATE forms SET deleted = true WHERE partition = $1 AND key = ANY ($2::bigint[])
