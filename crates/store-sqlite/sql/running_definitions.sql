SELECT definition FROM instances
WHERE partition = ?1 AND state = 'ACTIVE'
GROUP BY definition ORDER BY count(*) DESC, definition LIMIT ?2
