-- Rows of the log, as many as are looked at, in order: the first that is younger ends it. $1 partition, $2 before this time, $3 limit.
SELECT place FROM (SELECT ctid AS place, at FROM log WHERE partition = $1 ORDER BY partition, position LIMIT $3) AS first WHERE at < $2
