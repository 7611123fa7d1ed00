SELECT id, name, kind, headers FROM definition_elements WHERE partition = ?1 AND definition = ?2 ORDER BY element
