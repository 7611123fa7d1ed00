SELECT instance FROM incidents WHERE partition = ?1 AND key = ?2 AND resolved IS NULL
