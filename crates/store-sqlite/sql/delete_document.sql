DELETE FROM documents WHERE tenant = ?1 AND id = ?2
