-- The running instances a tick needs: named, or by a job, an element instance or an active incident of theirs.
-- $1 partition, $2 instances, $3 jobs, $4 element instances, $5 incidents. (Why LIMIT and MATERIALIZED: see commit/mod.rs.)
WITH named AS MATERIALIZED (
    SELECT $1 AS partition, UNNEST($2::bigint[]) AS key
    -- An instance is also an element instance: the outermost one.
    UNION SELECT $1, UNNEST($4::bigint[])
    UNION
    SELECT j.partition, j.instance
    FROM (SELECT $1 AS partition, UNNEST($3::bigint[]) AS key LIMIT cardinality($3)) AS asked
    JOIN jobs j ON j.partition = asked.partition AND j.key = asked.key AND j.availability <> 'DONE'
    UNION
    SELECT e.partition, e.instance
    FROM (SELECT $1 AS partition, UNNEST($4) AS key LIMIT cardinality($4)) AS asked
    JOIN elements e ON e.partition = asked.partition AND e.key = asked.key AND e.ended IS NULL
    UNION
    SELECT c.partition, c.instance
    FROM (SELECT $1 AS partition, UNNEST($5::bigint[]) AS key LIMIT cardinality($5)) AS asked
    JOIN incidents c ON c.partition = asked.partition AND c.key = asked.key AND c.resolved IS NULL
), wanted AS MATERIALIZED (
    SELECT i.* FROM named JOIN instances i ON i.partition = named.partition AND i.key = named.key AND i.ended IS NULL
)
