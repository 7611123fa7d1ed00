-- Batch operations go in the order in which they have ended, and tables whose rows change or go make room early.
-- Does not break older servers.

CREATE INDEX batch_operations_by_end ON batch_operations ((partition + 0), ended) WHERE ended IS NOT NULL;

-- Where rows come and go: after 2 % of the rows instead of 20 %, as the tables of history (see migration 14).
DO $$
DECLARE
    busy text;
BEGIN
    FOREACH busy IN ARRAY ARRAY['inbox', 'tokens', 'turns', 'compensations', 'messages', 'message_locks', 'signals', 'audit', 'batch_operations',
        'batch_items', 'documents', 'document_parts', 'document_links', 'schedules', 'paces']
    LOOP
        EXECUTE format('ALTER TABLE %I SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)', busy);
    END LOOP;
END $$;

-- A few rows, written over and over, and no index has what changes: the new version finds room in its page. (An index has the time at which a
-- schedule or a batch operation goes on and the state of an item: these are hardly ever updated in place.)
ALTER TABLE queue_stats SET (fillfactor = 50);
ALTER TABLE export_places SET (fillfactor = 10);
