-- Tokens of running instances, a page of them. $1 and $2 after this partition and instance, $3 limit.
SELECT partition, key, tokens FROM instances
WHERE (partition, key) > ($1, $2) AND state = 'ACTIVE' AND tokens <> ''
ORDER BY partition, key
LIMIT $3
