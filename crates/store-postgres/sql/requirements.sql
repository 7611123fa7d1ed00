-- Requirements with their decisions; what follows says which.
SELECT r.key, r.id, r.version, r.name, r.tenant, r.resource, r.resource_name, r.deployment, r.checksum, r.deleted,
       d.keys, d.ids, d.names, d.versions, d.version_tags
FROM requirements r
CROSS JOIN LATERAL (
    SELECT array_agg(key ORDER BY place) AS keys, array_agg(id ORDER BY place) AS ids, array_agg(name ORDER BY place) AS names,
           array_agg(version ORDER BY place) AS versions, array_agg(version_tag ORDER BY place) AS version_tags
    FROM decisions
    WHERE partition = r.partition AND requirements = r.key
) AS d
