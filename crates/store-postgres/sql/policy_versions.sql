-- All versions of a policy. $1 partition, $2 reference.
SELECT reference, version, policy, changed, changed_by FROM policies
WHERE partition = $1 AND reference = $2
ORDER BY version
