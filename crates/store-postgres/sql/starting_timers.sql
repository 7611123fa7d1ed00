-- The pending timers of a definition's start events, in whichever partition. $1 definition.
SELECT t.key, t.instance, t.element_instance, t.definition, t.tenant, t.element, t.state, t.kind, t.created,
    t.wait, t.text, t.armed, t.number, t.due, t.ended
FROM timers AS t
WHERE (CASE WHEN instance IS NULL AND state = 'PENDING' THEN definition END) = $1
ORDER BY key
