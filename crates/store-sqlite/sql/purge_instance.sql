DELETE FROM instances WHERE key = ?1
