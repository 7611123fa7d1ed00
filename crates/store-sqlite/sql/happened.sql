SELECT place - (?1 << 51), at, instance, events FROM log
WHERE place > (?1 << 51) + ?2 AND place < (?1 + 1) << 51
ORDER BY place LIMIT ?3
