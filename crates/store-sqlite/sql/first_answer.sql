SELECT fingerprint, position, answer, expires FROM idempotent WHERE partition = ?1 AND tenant = ?2 AND key = ?3 AND ?4 < expires
