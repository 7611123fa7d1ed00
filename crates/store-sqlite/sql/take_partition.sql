-- Nothing happens while somebody else's lease lasts.
UPDATE partitions
SET epoch = epoch + 1, owner = ?2, lease_until = ?4
WHERE partition = ?1 AND (owner IS NULL OR owner = ?2 OR lease_until <= ?3)
RETURNING epoch, tail, processed_to, next_key
