INSERT INTO timers
    (partition, key, wait, instance, element_instance, definition, tenant, element, kind, text, armed, number, due, state, created,
     ended)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
