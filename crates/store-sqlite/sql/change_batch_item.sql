UPDATE batch_items SET state = ?3, processed = ?4, error = ?5 WHERE partition = ?1 AND key = ?2
