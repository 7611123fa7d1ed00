SELECT reference, version, policy, changed, changed_by FROM policies AS newest
WHERE partition = ?1
    AND version = (SELECT max(version) FROM policies AS all_of WHERE all_of.partition = ?1 AND all_of.reference = newest.reference)
ORDER BY reference
