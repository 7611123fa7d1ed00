SELECT EXISTS (SELECT 1 FROM instances WHERE definition = ?1 AND state = 'ACTIVE')
