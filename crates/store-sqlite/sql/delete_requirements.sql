-- They stay readable for the evaluations that used them.
UPDATE requirements SET deleted = 1 WHERE partition = ?1 AND key = ?2
