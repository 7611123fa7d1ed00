-- A partition comes into being when somebody first names it, with its inbox. $1 partition, $2 its first key.
WITH inbox AS (
    INSERT INTO inboxes (partition, tail, total) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING
)
INSERT INTO partitions (partition, epoch, position, inbox_to, next_key) VALUES ($1, 0, 0, 0, $2) ON CONFLICT DO NOTHING
