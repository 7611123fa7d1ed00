-- It stays readable for the instances that ran it.
UPDATE definitions SET deleted = 1 WHERE partition = ?1 AND key = ?2
