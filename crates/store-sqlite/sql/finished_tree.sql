WITH RECURSIVE doomed (key) AS (
    SELECT key FROM instances WHERE partition = ?1 AND key = ?2 AND ended IS NOT NULL
    UNION ALL
    SELECT called.key FROM doomed JOIN instances AS called ON called.parent_instance = doomed.key
    WHERE called.ended IS NOT NULL
)
SELECT key FROM doomed
