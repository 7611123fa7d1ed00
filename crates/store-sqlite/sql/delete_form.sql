-- It stays readable.
UPDATE forms SET deleted = TRUE WHERE partition = ?1 AND key = ?2
