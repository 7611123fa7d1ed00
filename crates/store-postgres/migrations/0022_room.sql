-- Less room on disk, and what people find all tasks by.
-- Does not break older servers.

-- These leave no room for changed rows any more (ADR 92). A job, an instance or a variable that changes is never updated in place: an index has what
-- changes. So room in their pages spared only some volume of the write-ahead log, and took half of a page for as long as history is kept. Pages that
-- are full now stay as they are.
ALTER TABLE jobs SET (fillfactor = 100);
ALTER TABLE instances SET (fillfactor = 100);
ALTER TABLE variables SET (fillfactor = 100);

-- The most urgent that are open, and among them the oldest first (ADR 40; neither partial nor by state, as there).
CREATE INDEX user_tasks_open_by_priority ON user_tasks ((CASE WHEN state = 'CREATED' THEN priority END) DESC, key);
-- All there ever were, the newest or the oldest first.
CREATE INDEX user_tasks_by_creation ON user_tasks (created);
