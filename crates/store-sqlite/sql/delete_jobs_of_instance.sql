DELETE FROM jobs WHERE partition = ?1 AND instance = ?2
