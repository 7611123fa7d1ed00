WITH RECURSIVE above (key) AS (
    SELECT element_instance FROM incidents WHERE partition = ?1 AND key = ?2 AND resolved IS NULL
    UNION
    SELECT inner.scope FROM above JOIN elements AS inner ON inner.partition = ?1 AND inner.key = above.key
    UNION
    SELECT called.parent_element FROM above JOIN instances AS called ON called.partition = ?1 AND called.key = above.key
    WHERE called.parent_element IS NOT NULL
)
UPDATE instances SET stuck = nullif(coalesce(stuck, 0) + ?3, 0) WHERE partition = ?1 AND key IN (SELECT key FROM above)
