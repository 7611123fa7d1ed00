SELECT key, element_instance FROM jobs WHERE partition = ?1 AND instance = ?2 AND availability <> 'DONE'
