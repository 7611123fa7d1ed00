-- The versions of a name from the highest down to the first that is not deleted, which is mostly the highest.
SELECT version, deleted, key, checksum FROM definitions
WHERE partition = ?1 AND process_id = ?2 AND tenant = ?3
ORDER BY version DESC
