-- Nothing happens while somebody else's lease lasts. One that ends after ?5 is from before the clock was set back.
UPDATE partitions
SET epoch = epoch + 1, owner = ?2, lease_until = ?4
WHERE partition = ?1 AND (owner IS NULL OR owner = ?2 OR lease_until <= ?3 OR ?5 < lease_until)
RETURNING epoch, position, inbox_to, inbox_tail, next_key
