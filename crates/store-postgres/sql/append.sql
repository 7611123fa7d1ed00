-- Put commands at the end of the log. $1 partition, $2 its first key, $3 kinds, $4 requests.
-- Positions are taken under the lock of the partition's row, which is held until this transaction is committed: so they are
-- gapless and become visible in order. The row is made here if no owner was ever there.
WITH grown AS (
    INSERT INTO partitions AS p (partition, epoch, tail, processed_to, next_key)
    VALUES ($1, 0, cardinality($3::text[]), 0, $2)
    ON CONFLICT (partition) DO UPDATE SET tail = p.tail + excluded.tail
    RETURNING tail, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
), appended AS (
    INSERT INTO log (partition, position, kind, at, request)
    SELECT $1, grown.tail - cardinality($3::text[]) + command.place, command.kind, grown.now, command.request
    FROM grown, UNNEST($3::text[], $4::bytea[]) WITH ORDINALITY AS command (kind, request, place)
)
SELECT grown.tail, pg_notify('caudal', '') FROM grown
