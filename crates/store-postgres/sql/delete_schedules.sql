-- Schedules that are deleted. $1 partition, $2 keys.
DELETE FROM schedules WHERE partition = $1 AND key = ANY ($2::bigint[])
