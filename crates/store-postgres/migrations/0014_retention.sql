-- What retention and searches find by.
-- Does not break older servers, but they do not remove anything.

-- The oldest first, before them those that run. (Keys are written so that nobody who loads by them comes by here: ADR 11.)
CREATE INDEX instances_by_end ON instances (ended NULLS FIRST, (key + 0));
-- All that an instance has called, and what that has; none for those nobody called.
CREATE INDEX instances_called ON instances ((CASE WHEN parent_instance IS NOT NULL THEN root END), key)
    WHERE (CASE WHEN parent_instance IS NOT NULL THEN root END) IS NOT NULL;
CREATE INDEX instance_tags_by_instance ON instance_tags (instance);
-- Nothing of these is of a process.
CREATE INDEX jobs_over ON jobs ((partition + 0), (CASE WHEN instance IS NULL THEN ended END))
    WHERE (CASE WHEN instance IS NULL THEN ended END) IS NOT NULL;
CREATE INDEX evaluated_decisions_alone ON evaluated_decisions ((partition + 0), (CASE WHEN instance IS NULL THEN evaluated END))
    WHERE (CASE WHEN instance IS NULL THEN evaluated END) IS NOT NULL;

-- Searches (ADR 30). Names and the beginnings of values; more of a value is compared with the row. Equal entries share one.
CREATE INDEX variables_by_value ON variables (name, (substr(value, 1, 32)));
CREATE INDEX elements_by_element ON elements (definition, element);
CREATE INDEX instances_by_start ON instances (started);
CREATE INDEX instances_by_business_id ON instances (business_id) WHERE business_id IS NOT NULL;
-- Written so that nobody who asks for a queue is served by it (ADR 11).
CREATE INDEX jobs_by_type ON jobs ((job_type || ''));
CREATE INDEX instances_terminated ON instances (partition, key) WHERE state = 'TERMINATED';
CREATE INDEX incidents_by_message ON incidents (message_hash);

-- What is removed makes room early: after 2 % of the rows instead of 20 %, so that tables do not grow by a fifth in between.
DO $$
DECLARE
    history text;
BEGIN
    FOREACH history IN ARRAY ARRAY['instances', 'instance_tags', 'elements', 'variables', 'jobs', 'incidents', 'timers', 'subscriptions',
        'message_correlations', 'user_tasks', 'user_task_candidates', 'evaluated_decisions', 'log', 'idempotent', 'answers']
    LOOP
        EXECUTE format('ALTER TABLE %I SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)', history);
    END LOOP;
END $$;
