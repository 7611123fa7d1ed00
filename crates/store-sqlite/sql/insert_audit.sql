INSERT INTO audit
    (partition, key, at, actor, operation, entity, entity_key, tenant, definition, instance, element_instance, job, job_type, worker,
     dispatched, user_task, deployment, resource, form, requirements, decision, decision_id, batch, description)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)
