-- The log after a position, in order. $1 partition, $2 position, $3 limit, $4 bytes of events, which the first may exceed.
WITH page AS MATERIALIZED (
    SELECT position, at, instance, events FROM log WHERE partition = $1 AND position > $2 ORDER BY partition, position LIMIT $3
), weighed AS (
    SELECT page.*, sum(octet_length(events)) OVER (ORDER BY position) AS bytes, row_number() OVER (ORDER BY position) AS place FROM page
)
SELECT position, at, instance, events FROM weighed
WHERE place = 1 OR bytes <= $4
ORDER BY position
