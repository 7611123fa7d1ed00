-- DMN files nobody can evaluate any more, with their decisions; they stay readable. $1 partition, $2 keys.
WITH files AS (
    UPDATE requirements SET deleted = true WHERE partition = $1 AND key = ANY ($2::bigint[])
)
UPDATE decisions SET deleted = true WHERE partition = $1 AND requirements = ANY ($2::bigint[])
