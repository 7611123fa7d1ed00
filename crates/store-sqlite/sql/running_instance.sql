SELECT key, definition, phase, started, parent_instance, parent_element, root, tags, business_id, depth, suspended
FROM instances WHERE partition = ?1 AND key = ?2 AND state = 'ACTIVE'
