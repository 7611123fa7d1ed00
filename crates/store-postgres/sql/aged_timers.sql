-- Timers that were fired or cancelled. $1 partition, $2 before this time, $3 limit.
SELECT ctid AS place FROM timers WHERE partition + 0 = $1 AND ended < $2 ORDER BY ended LIMIT $3
