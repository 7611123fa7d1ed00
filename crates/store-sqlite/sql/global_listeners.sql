SELECT version, listeners, changed, changed_by FROM global_listeners WHERE partition = ?1 ORDER BY version DESC LIMIT ?2
