SELECT instance FROM jobs WHERE partition = ?1 AND key = ?2 AND availability <> 'DONE' AND instance IS NOT NULL
