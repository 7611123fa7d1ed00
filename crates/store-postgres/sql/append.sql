-- Put requests at the end of an inbox that is locked, unless that would make it too large: then no row comes back.
-- $1 partition, $2 kinds, $3 requests, $4 how long they live in milliseconds, $5 requests and $6 bytes that may wait.
-- Positions are taken under the lock of the inbox's row, which is held until this transaction is committed: so they are gapless and
-- become visible in order. The lock is taken by a statement before this one: what this one sees is from after that.
WITH given AS MATERIALIZED (
    SELECT place, kind, request, lives, sum(octet_length(request)) OVER (ORDER BY place) AS bytes
    FROM UNNEST($2::text[], $3::bytea[], $4::bigint[]) WITH ORDINALITY AS given (kind, request, lives, place)
), before AS MATERIALIZED (
    SELECT i.tail, i.total, i.tail - p.inbox_to AS waiting, i.total - coalesce(
        (SELECT total - octet_length(request) FROM inbox
         WHERE partition = $1 AND position > p.inbox_to
         ORDER BY position LIMIT 1), i.total) AS bytes
    FROM inboxes i
    CROSS JOIN LATERAL (SELECT inbox_to FROM partitions WHERE partition = $1 OFFSET 0) AS p
    WHERE i.partition = $1
), grown AS (
    UPDATE inboxes i SET tail = i.tail + cardinality($2), total = i.total + (SELECT max(bytes) FROM given)
    FROM before
    WHERE i.partition = $1 AND before.waiting + cardinality($2) <= $5
      AND before.bytes + (SELECT max(bytes) FROM given) <= $6
    RETURNING i.tail, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
), appended AS (
    INSERT INTO inbox (partition, position, kind, at, expires, request, total)
    SELECT $1, before.tail + given.place, given.kind, grown.now, grown.now + given.lives, given.request, before.total + given.bytes
    FROM grown, before, given
)
SELECT grown.tail, pg_notify('caudal', '') FROM grown
