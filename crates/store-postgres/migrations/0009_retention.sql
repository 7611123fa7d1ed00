-- What retention and searches find by.
-- Does not break older servers, but they do not remove anything.

-- The oldest first.
CREATE INDEX instances_by_end ON instances (ended, key) WHERE ended IS NOT NULL;
-- All that an instance has called, and what that has; none for those nobody called.
CREATE INDEX instances_called ON instances ((CASE WHEN parent_instance IS NOT NULL THEN root END), key)
    WHERE (CASE WHEN parent_instance IS NOT NULL THEN root END) IS NOT NULL;
CREATE INDEX instance_tags_by_instance ON instance_tags (instance);
-- Nothing of these is of a process.
CREATE INDEX jobs_over ON jobs ((partition + 0), (CASE WHEN instance IS NULL THEN ended END))
    WHERE (CASE WHEN instance IS NULL THEN ended END) IS NOT NULL;
CREATE INDEX evaluated_decisions_alone ON evaluated_decisions ((partition + 0), (CASE WHEN instance IS NULL THEN evaluated END))
    WHERE (CASE WHEN instance IS NULL THEN evaluated END) IS NOT NULL;
