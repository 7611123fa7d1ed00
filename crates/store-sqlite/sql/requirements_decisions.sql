SELECT key, id, name, version, version_tag FROM decisions WHERE partition = ?1 AND requirements = ?2 ORDER BY place
