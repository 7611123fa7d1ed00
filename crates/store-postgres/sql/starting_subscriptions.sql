-- The open subscriptions of a definition's start events, in whichever partition. $1 definition.
SELECT s.key, s.instance, s.element_instance, s.definition, s.tenant, s.element, s.state, s.kind, s.created,
    s.name, s.correlation_key, s.child, s.process_id, s.catches, s.updated
FROM subscriptions AS s
WHERE (CASE WHEN instance IS NULL AND state = 'CREATED' THEN definition END) = $1
ORDER BY key
