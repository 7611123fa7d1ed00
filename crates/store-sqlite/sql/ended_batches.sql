-- With the items that are to go before them.
SELECT key FROM batch_operations WHERE partition = ?1 AND ended < ?2 ORDER BY ended LIMIT ?3
