-- Definitions with their elements; what follows says which.
SELECT d.key, d.process_id, d.version, d.name, d.version_tag, d.tenant, d.resource, d.resource_name, d.deployment, d.checksum,
       d.deleted, d.flows, d.start_form, d.start_form_binding, e.ids, e.names, e.kinds, e.headers
FROM definitions d
CROSS JOIN LATERAL (
    SELECT array_agg(id ORDER BY element) AS ids, array_agg(name ORDER BY element) AS names,
           array_agg(kind ORDER BY element) AS kinds, array_agg(headers ORDER BY element) AS headers
    FROM definition_elements
    WHERE partition = d.partition AND definition = d.key
) AS e
