-- As many rows as are looked at, in order: the first that is younger ends it.
SELECT place FROM (SELECT place, at FROM log WHERE place >= ?1 << 51 AND place < (?1 + 1) << 51 ORDER BY place LIMIT ?3) WHERE at < ?2
