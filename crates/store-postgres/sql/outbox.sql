-- What is to be announced after a key, in order. $1 partition, $2 key, $3 limit, $4 bytes, which the first may exceed.
WITH page AS MATERIALIZED (
    SELECT * FROM dispatch_outbox WHERE partition = $1 AND key > $2 ORDER BY key LIMIT $3
), weighed AS (
    SELECT page.*, sum(octet_length(payload)) OVER (ORDER BY key) AS bytes, row_number() OVER (ORDER BY key) AS place FROM page
)
SELECT key, job, instance, element_instance, job_type, tenant, retries, created, payload, lease, element_id, progress, trace FROM weighed
WHERE place = 1 OR bytes <= $4
ORDER BY key
