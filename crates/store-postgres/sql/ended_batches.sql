-- Operations that are over, with the items that are to go before them. $1 partition, $2 before this time, $3 limit.
SELECT ctid AS place FROM batch_operations WHERE partition + 0 = $1 AND ended < $2 ORDER BY ended LIMIT $3
