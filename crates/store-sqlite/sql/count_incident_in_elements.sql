WITH RECURSIVE above (key) AS (
    SELECT element_instance FROM incidents WHERE partition = ?1 AND key = ?2 AND resolved IS NULL
    UNION
    -- Not as joins: for those SQLite may read the whole table first, to make a filter of it.
    SELECT coalesce(
        (SELECT scope FROM elements AS inner WHERE inner.partition = ?1 AND inner.key = above.key),
        (SELECT parent_element FROM instances AS called WHERE called.partition = ?1 AND called.key = above.key)
    )
    FROM above WHERE above.key IS NOT NULL
)
UPDATE elements SET stuck = nullif(coalesce(stuck, 0) + ?3, 0) WHERE partition = ?1 AND key IN (SELECT key FROM above WHERE key IS NOT NULL)
