-- How far the log was told of. $1 partition, $2 under which name.
SELECT position FROM export_places WHERE partition = $1 AND name = $2
