-- The running instances a tick needs: named, or by a job, an element instance or an active incident of theirs.
-- $1 partition, $2 instances, $3 jobs, $4 element instances, $5 incidents.
-- Each look-up is a sub-select that stays one (OFFSET 0) and has no condition but the key (CASE instead): see load.rs.
WITH named AS MATERIALIZED (
    SELECT $1 AS partition, UNNEST($2::bigint[]) AS key
    UNION
    SELECT $1, found.instance
    FROM (SELECT $1 AS partition, UNNEST($3::bigint[]) AS key) AS asked
    CROSS JOIN LATERAL (
        SELECT CASE WHEN j.availability <> 'DONE' THEN j.instance END AS instance
        FROM jobs j WHERE j.partition = asked.partition AND j.key = asked.key OFFSET 0
    ) AS found
    UNION
    SELECT $1, found.instance
    FROM (SELECT $1 AS partition, UNNEST($4::bigint[]) AS key) AS asked
    CROSS JOIN LATERAL (
        SELECT CASE WHEN e.state = 'ACTIVE' THEN e.instance END AS instance
        FROM elements e WHERE e.partition = asked.partition AND e.key = asked.key OFFSET 0
    ) AS found
    UNION
    SELECT $1, found.instance
    FROM (SELECT $1 AS partition, UNNEST($5::bigint[]) AS key) AS asked
    CROSS JOIN LATERAL (
        SELECT CASE WHEN c.resolved IS NULL THEN c.instance END AS instance
        FROM incidents c WHERE c.partition = asked.partition AND c.key = asked.key OFFSET 0
    ) AS found
), wanted AS MATERIALIZED (
    SELECT i.*
    FROM named
    CROSS JOIN LATERAL (SELECT * FROM instances WHERE partition = named.partition AND key = named.key OFFSET 0) AS i
    WHERE i.ended IS NULL
)
