-- Incidents are counted in `stuck` since migration 7.
INSERT INTO instances
    (partition, key, definition, state, phase, started, ended, parent_instance, parent_element, root, tags, business_id, incidents,
     depth)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 0, ?13)
