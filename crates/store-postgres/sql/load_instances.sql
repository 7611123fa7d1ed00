-- The instances themselves.
SELECT key, definition, phase, started, ended, parent_instance, parent_element, root, tags, business_id, depth, suspended
FROM wanted
ORDER BY key
