-- As many rows as are looked at, in order: the first that is younger ends it.
SELECT partition, position FROM (SELECT partition, position, at FROM log WHERE partition = ?1 ORDER BY position LIMIT ?3) WHERE at < ?2
