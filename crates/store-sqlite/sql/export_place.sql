SELECT position FROM export_places WHERE partition = ?1 AND name = ?2
