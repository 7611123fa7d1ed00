-- Tags of new instances, once each. $1 partition, then a column each.
INSERT INTO instance_tags (partition, tag, instance)
SELECT $1, given.*
FROM UNNEST($2::text[], $3::bigint[]) AS given
ON CONFLICT DO NOTHING
