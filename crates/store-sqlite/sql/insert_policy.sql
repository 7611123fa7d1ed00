INSERT INTO policies (partition, reference, version, policy, changed, changed_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
