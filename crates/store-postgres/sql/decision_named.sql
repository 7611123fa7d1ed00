-- What is known of a decision by its id. $1 partition, $2 tenant, $3 id.
SELECT (SELECT max(version) FROM decisions WHERE partition = $1 AND tenant = $2 AND id = $3) AS version_max,
       latest.key, latest.requirements
FROM (VALUES (1)) AS one
LEFT JOIN LATERAL (
    SELECT key, requirements FROM decisions
    WHERE partition = $1 AND tenant = $2 AND id = $3 AND NOT deleted
    ORDER BY version DESC
    LIMIT 1
) AS latest ON true
