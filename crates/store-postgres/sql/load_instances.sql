-- The instances themselves.
SELECT key, definition, state, phase, started, ended, parent_instance, parent_element, root, tags, business_id, incidents, depth
FROM wanted
ORDER BY key
