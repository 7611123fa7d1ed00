-- Requests that are answered leave the inbox. $1 partition, $2 and $3 after this position, up to that one.
DELETE FROM inbox WHERE partition = $1 AND position > $2 AND position <= $3
