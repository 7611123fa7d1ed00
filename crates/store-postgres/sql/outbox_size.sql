-- How much waits to be announced. $1 partition.
SELECT count(*), coalesce(sum(octet_length(payload)), 0)::bigint FROM dispatch_outbox WHERE partition = $1
