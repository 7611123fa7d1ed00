-- All schedules. $1 partition.
SELECT schedule FROM schedules WHERE partition = $1 ORDER BY tenant, reference
