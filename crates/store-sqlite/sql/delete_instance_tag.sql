DELETE FROM instance_tags WHERE partition = ?1 AND tag = ?2 AND instance = ?3
