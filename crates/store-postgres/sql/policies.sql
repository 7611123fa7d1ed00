-- The newest version of every policy. $1 partition.
SELECT DISTINCT ON (reference) reference, version, policy, changed, changed_by FROM policies
WHERE partition = $1
ORDER BY reference, version DESC
