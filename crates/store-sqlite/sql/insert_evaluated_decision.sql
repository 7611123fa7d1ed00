INSERT INTO evaluated_decisions
    (partition, key, evaluation, place, decision, decision_id, name, version, kind, requirements, root_decision, tenant,
     evaluated, output, details, instance, definition, element_instance)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
