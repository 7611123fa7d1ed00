-- Element instances and variables of an instance and of all it has called, each counted up to a bound. ?1 partition, ?2 instance, ?3 bound.
WITH its (key) AS (
    SELECT ?2
    UNION ALL
    SELECT key FROM instances WHERE root = ?2 AND parent_instance IS NOT NULL
)
SELECT
    (SELECT count(*) FROM (
        SELECT 1 FROM its CROSS JOIN elements AS e ON e.partition = ?1 AND e.instance = its.key LIMIT ?3))
    + (SELECT count(*) FROM (
        SELECT 1 FROM its CROSS JOIN variables AS v ON v.partition = ?1 AND v.instance = its.key LIMIT ?3))
