DELETE FROM messages WHERE partition = ?1 AND key = ?2
