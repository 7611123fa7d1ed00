SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.answers (
    partition bigint NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    answer bytea NOT NULL,
    expires bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE public.audit (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    at bigint NOT NULL,
    actor text COLLATE pg_catalog."C",
    operation text NOT NULL COLLATE pg_catalog."C",
    entity text NOT NULL COLLATE pg_catalog."C",
    entity_key text NOT NULL COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    definition bigint,
    instance bigint,
    element_instance bigint,
    job bigint,
    job_type text COLLATE pg_catalog."C",
    worker text COLLATE pg_catalog."C",
    dispatched bigint,
    user_task bigint,
    deployment bigint,
    resource bigint,
    form bigint,
    requirements bigint,
    decision bigint,
    decision_id text COLLATE pg_catalog."C",
    batch bigint,
    description text COLLATE pg_catalog."C"
);
CREATE TABLE public.batch_items (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    batch bigint NOT NULL,
    item bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    instance bigint,
    root bigint,
    state text NOT NULL COLLATE pg_catalog."C",
    processed bigint,
    error text COLLATE pg_catalog."C"
);
CREATE TABLE public.batch_operations (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    actor text NOT NULL COLLATE pg_catalog."C",
    started bigint,
    ended bigint,
    due bigint,
    total bigint NOT NULL,
    completed bigint NOT NULL,
    failed bigint NOT NULL,
    after bigint,
    asked bytea NOT NULL,
    error text COLLATE pg_catalog."C"
);
CREATE TABLE public.compensations (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    instance bigint NOT NULL,
    scope bigint NOT NULL,
    activity integer NOT NULL
);
CREATE TABLE public.decisions (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    requirements bigint NOT NULL,
    place integer NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    version_tag text COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    deleted boolean NOT NULL
);
CREATE TABLE public.definition_elements (
    partition bigint NOT NULL,
    definition bigint NOT NULL,
    element integer NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    name text COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    headers text NOT NULL COLLATE pg_catalog."C"
)
WITH (autovacuum_analyze_threshold='0');
CREATE TABLE public.definitions (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    process_id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    name text COLLATE pg_catalog."C",
    version_tag text COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    resource bigint NOT NULL,
    resource_name text NOT NULL COLLATE pg_catalog."C",
    deployment bigint NOT NULL,
    checksum bytea NOT NULL,
    deleted boolean NOT NULL,
    flows bytea,
    start_form text COLLATE pg_catalog."C",
    start_form_binding text COLLATE pg_catalog."C"
)
WITH (autovacuum_analyze_threshold='0');
CREATE TABLE public.dispatch_outbox (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    job bigint NOT NULL,
    instance bigint NOT NULL,
    element_instance bigint NOT NULL,
    job_type text NOT NULL COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    retries integer NOT NULL,
    created bigint NOT NULL,
    payload text NOT NULL COLLATE pg_catalog."C",
    lease integer DEFAULT 0 NOT NULL,
    element_id text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    progress text COLLATE pg_catalog."C",
    trace text COLLATE pg_catalog."C"
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='10000');
CREATE TABLE public.document_links (
    token text NOT NULL COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    expires bigint NOT NULL
);
CREATE TABLE public.document_parts (
    upload text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    at bigint NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE ONLY public.document_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE TABLE public.documents (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    upload text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    hash text NOT NULL COLLATE pg_catalog."C",
    file_name text NOT NULL COLLATE pg_catalog."C",
    content_type text NOT NULL COLLATE pg_catalog."C",
    created bigint NOT NULL,
    expires bigint,
    process_id text COLLATE pg_catalog."C",
    instance bigint,
    properties text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.elements (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    instance bigint NOT NULL,
    definition bigint NOT NULL,
    element integer NOT NULL,
    scope bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    phase smallint NOT NULL,
    started bigint NOT NULL,
    ended bigint,
    incident bigint,
    progress text COLLATE pg_catalog."C",
    stuck integer,
    past boolean DEFAULT false NOT NULL,
    late bigint GENERATED ALWAYS AS (
CASE
    WHEN (((ended - started) >= 0) AND ((ended - started) <= 250)) THEN NULL::bigint
    ELSE ended
END) STORED
)
WITH (fillfactor='65', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE public.evaluated_decisions (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    evaluation bigint NOT NULL,
    place integer NOT NULL,
    decision bigint,
    decision_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    version integer,
    kind text NOT NULL COLLATE pg_catalog."C",
    requirements bigint NOT NULL,
    root_decision bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    evaluated bigint NOT NULL,
    output text NOT NULL COLLATE pg_catalog."C",
    details bytea NOT NULL,
    instance bigint,
    definition bigint,
    element_instance bigint,
    CONSTRAINT evaluated_decisions_check CHECK ((key = ((evaluation + place) - 1)))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE public.export_places (
    partition bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL
);
CREATE TABLE public.forms (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    version_tag text COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    resource bigint NOT NULL,
    resource_name text NOT NULL COLLATE pg_catalog."C",
    deployment bigint NOT NULL,
    checksum bytea NOT NULL,
    deleted boolean NOT NULL
);
CREATE TABLE public.global_listeners (
    partition bigint NOT NULL,
    version integer NOT NULL,
    listeners bytea NOT NULL,
    changed bigint NOT NULL,
    changed_by text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.idempotent (
    partition bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    fingerprint bigint NOT NULL,
    "position" bigint NOT NULL,
    answer bytea NOT NULL,
    expires bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE public.identity (
    one boolean DEFAULT true NOT NULL,
    id text NOT NULL,
    CONSTRAINT identity_one_check CHECK (one)
);
CREATE TABLE public.inbox (
    partition bigint NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    expires bigint,
    request bytea NOT NULL,
    total bigint NOT NULL
);
CREATE TABLE public.inboxes (
    partition bigint NOT NULL,
    tail bigint NOT NULL,
    total bigint NOT NULL
)
WITH (fillfactor='10');
CREATE TABLE public.incidents (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    instance bigint NOT NULL,
    definition bigint NOT NULL,
    element integer NOT NULL,
    element_instance bigint NOT NULL,
    job bigint,
    kind text NOT NULL COLLATE pg_catalog."C",
    message text NOT NULL COLLATE pg_catalog."C",
    message_hash integer NOT NULL,
    created bigint NOT NULL,
    resolved bigint
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE public.instance_tags (
    partition bigint NOT NULL,
    tag text NOT NULL COLLATE pg_catalog."C",
    instance bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE public.instances (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    definition bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    phase smallint NOT NULL,
    started bigint NOT NULL,
    ended bigint,
    parent_instance bigint,
    parent_element bigint,
    root bigint NOT NULL,
    tags text NOT NULL COLLATE pg_catalog."C",
    business_id text COLLATE pg_catalog."C",
    incidents integer NOT NULL,
    depth integer NOT NULL,
    stuck integer,
    suspended bigint
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02', fillfactor='100');
CREATE TABLE public.jobs (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    instance bigint,
    definition bigint,
    element integer,
    element_instance bigint,
    job_type text NOT NULL COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    availability text NOT NULL COLLATE pg_catalog."C",
    due bigint,
    retries integer NOT NULL,
    worker text NOT NULL COLLATE pg_catalog."C",
    deadline bigint,
    error_code text NOT NULL COLLATE pg_catalog."C",
    error_message text NOT NULL COLLATE pg_catalog."C",
    failed_with_retries_left boolean NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    ended bigint,
    priority integer NOT NULL,
    headers text COLLATE pg_catalog."C",
    kind text COLLATE pg_catalog."C",
    denied text COLLATE pg_catalog."C",
    group_key text COLLATE pg_catalog."C",
    input text COLLATE pg_catalog."C",
    result text COLLATE pg_catalog."C",
    attempts integer,
    started bigint,
    unique_key text COLLATE pg_catalog."C",
    unique_until bigint,
    dispatched bigint,
    leases integer,
    progress text COLLATE pg_catalog."C",
    late bigint GENERATED ALWAYS AS (
CASE
    WHEN ((instance IS NULL) OR (((ended - created) >= 0) AND ((ended - created) <= 250))) THEN NULL::bigint
    ELSE ended
END) STORED
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02', fillfactor='100');
CREATE TABLE public.log (
    partition bigint NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    instance bigint,
    events bytea
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE public.message_correlations (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    message bigint NOT NULL,
    subscription bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    correlation_key text NOT NULL COLLATE pg_catalog."C",
    definition bigint NOT NULL,
    process_id text NOT NULL COLLATE pg_catalog."C",
    instance bigint NOT NULL,
    root bigint NOT NULL,
    element integer NOT NULL,
    element_instance bigint,
    at bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE public.message_locks (
    partition bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    process_id text NOT NULL COLLATE pg_catalog."C",
    correlation_key text NOT NULL COLLATE pg_catalog."C",
    instance bigint NOT NULL
);
CREATE TABLE public.messages (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    correlation_key text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    variables bytea NOT NULL,
    published bigint NOT NULL,
    expires bigint NOT NULL,
    taken_by text NOT NULL COLLATE pg_catalog."C"
)
WITH (fillfactor='80');
CREATE TABLE public.paces (
    partition bigint NOT NULL,
    job_type text NOT NULL COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    bucket text NOT NULL COLLATE pg_catalog."C",
    starts bytea NOT NULL,
    until bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE public.partitions (
    partition bigint NOT NULL,
    epoch bigint NOT NULL,
    owner text COLLATE pg_catalog."C",
    lease_until bigint,
    "position" bigint NOT NULL,
    inbox_to bigint NOT NULL,
    next_key bigint NOT NULL,
    started_latest bigint DEFAULT 0 NOT NULL,
    started_back bigint DEFAULT 0 NOT NULL,
    CONSTRAINT partitions_inbox_to_check CHECK ((0 <= inbox_to))
)
WITH (fillfactor='10');
CREATE TABLE public.policies (
    partition bigint NOT NULL,
    reference text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    policy bytea NOT NULL,
    changed bigint NOT NULL,
    changed_by text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.queue_stats (
    partition bigint NOT NULL,
    job_type text NOT NULL COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    waiting bigint NOT NULL,
    running bigint NOT NULL,
    enqueued bigint NOT NULL,
    started bigint NOT NULL,
    completed bigint NOT NULL,
    failed bigint NOT NULL,
    timed_out bigint NOT NULL,
    cancelled bigint NOT NULL,
    wait_p50 bigint,
    wait_p95 bigint,
    wait_p99 bigint,
    run_p50 bigint,
    run_p95 bigint,
    run_p99 bigint,
    progressed bigint NOT NULL,
    stuck_since bigint,
    updated bigint NOT NULL,
    stats bytea NOT NULL
);
CREATE TABLE public.requirements (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    resource bigint NOT NULL,
    resource_name text NOT NULL COLLATE pg_catalog."C",
    deployment bigint NOT NULL,
    checksum bytea NOT NULL,
    deleted boolean NOT NULL
);
CREATE TABLE public.resources (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    content bytea NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.schedules (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    reference text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    cron text NOT NULL COLLATE pg_catalog."C",
    due bigint,
    schedule bytea NOT NULL
);
CREATE TABLE public.schema_version (
    version bigint NOT NULL,
    applied timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE public.signals (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    variables bytea NOT NULL,
    after bigint NOT NULL,
    due bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE public.subscriptions (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    correlation_key text NOT NULL COLLATE pg_catalog."C",
    child bigint,
    tenant text NOT NULL COLLATE pg_catalog."C",
    definition bigint NOT NULL,
    process_id text NOT NULL COLLATE pg_catalog."C",
    element integer NOT NULL,
    catches boolean NOT NULL,
    instance bigint,
    element_instance bigint,
    state text NOT NULL COLLATE pg_catalog."C",
    created bigint NOT NULL,
    updated bigint NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE public.timers (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    wait bigint NOT NULL,
    instance bigint,
    element_instance bigint,
    definition bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    element integer NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL COLLATE pg_catalog."C",
    armed bigint NOT NULL,
    number integer NOT NULL,
    due bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    created bigint NOT NULL,
    ended bigint
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE public.tokens (
    partition bigint NOT NULL,
    instance bigint NOT NULL,
    scope bigint NOT NULL,
    gateway integer NOT NULL,
    flow integer NOT NULL,
    count integer NOT NULL
)
WITH (fillfactor='80');
CREATE TABLE public.turns (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    instance bigint NOT NULL,
    due bigint NOT NULL,
    step bytea NOT NULL
);
CREATE TABLE public.user_task_candidates (
    partition bigint NOT NULL,
    task bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    open boolean NOT NULL,
    tenant text DEFAULT '<default>'::text NOT NULL COLLATE pg_catalog."C",
    created bigint DEFAULT ((EXTRACT(epoch FROM now()) * (1000)::numeric))::bigint NOT NULL,
    free boolean DEFAULT true NOT NULL,
    priority integer DEFAULT 50 NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE public.user_tasks (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    instance bigint NOT NULL,
    definition bigint NOT NULL,
    element integer NOT NULL,
    element_instance bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    assignee text COLLATE pg_catalog."C",
    candidate_groups text NOT NULL COLLATE pg_catalog."C",
    candidate_users text NOT NULL COLLATE pg_catalog."C",
    due bigint,
    follow_up bigint,
    priority integer NOT NULL,
    form bigint,
    external_form text COLLATE pg_catalog."C",
    created bigint NOT NULL,
    ended bigint,
    transition bytea
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE public.variables (
    partition bigint NOT NULL,
    key bigint NOT NULL,
    instance bigint NOT NULL,
    definition bigint NOT NULL,
    scope bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02', fillfactor='100');
INSERT INTO public.audit VALUES (1, 2251799813685262, 1795111189748, NULL, 'CREATE', 'RESOURCE', '2251799813685257', '<default>', 2251799813685257, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2251799813685255, 2251799813685257, NULL, NULL, NULL, NULL, NULL, 'later.bpmn');
INSERT INTO public.audit VALUES (1, 2251799813685263, 1795111189748, NULL, 'CREATE', 'RESOURCE', '2251799813685258', '<default>', 2251799813685258, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2251799813685255, 2251799813685258, NULL, NULL, NULL, NULL, NULL, 'later.bpmn');
INSERT INTO public.audit VALUES (1, 2251799813685264, 1795111189748, NULL, 'CREATE', 'RESOURCE', '2251799813685259', '<default>', 2251799813685259, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2251799813685255, 2251799813685259, NULL, NULL, NULL, NULL, NULL, 'later.bpmn');
INSERT INTO public.audit VALUES (1, 2251799813685265, 1795111189748, NULL, 'CREATE', 'RESOURCE', '2251799813685261', '<default>', 2251799813685261, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2251799813685255, 2251799813685261, NULL, NULL, NULL, NULL, NULL, 'later.bpmn');
INSERT INTO public.audit VALUES (1, 2251799813685267, 1795111190675, NULL, 'CREATE', 'LISTENER', 'everywhere', '<default>', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.audit VALUES (1, 2251799813685269, 1795111190698, NULL, 'CREATE', 'POLICY', 'per-customer', '<default>', NULL, NULL, NULL, NULL, 'mail', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.audit VALUES (1, 2251799813685272, 1795111190705, NULL, 'UPDATE', 'SCHEDULE', 'yearly', '<default>', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.audit VALUES (1, 2251799813685340, 1795111190879, NULL, 'COMPLETE', 'USER_TASK', '2251799813685318', '<default>', 2251799813685257, 2251799813685303, 2251799813685312, NULL, NULL, NULL, NULL, 2251799813685318, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.audit VALUES (1, 2251799813685353, 1795111191041, NULL, 'SUSPEND', 'PROCESS_INSTANCE', '2251799813685342', '<default>', 2251799813685258, 2251799813685342, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.audit VALUES (1, 2251799813685401, 1795111191685, NULL, 'CANCEL', 'JOB', '2251799813685399', '<default>', NULL, NULL, NULL, 2251799813685399, 'mail', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.audit VALUES (1, 2251799813685410, 1795111191840, NULL, 'FAIL', 'JOB', '2251799813685406', '<default>', NULL, NULL, NULL, 2251799813685406, 'print', 'worker-1', 1795111191818, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'no paper');
INSERT INTO public.audit VALUES (1, 2251799813685468, 1795111192154, NULL, 'CREATE', 'BATCH', '2251799813685467', '<default>', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2251799813685467, NULL);
INSERT INTO public.audit VALUES (1, 2251799813685478, 1795111193321, NULL, 'CREATE', 'BATCH', '2251799813685477', '<default>', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2251799813685477, NULL);
INSERT INTO public.audit VALUES (1, 2251799813685487, 1795111193364, NULL, 'SUSPEND', 'BATCH', '2251799813685477', '<default>', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2251799813685477, NULL);
INSERT INTO public.batch_items VALUES (1, 2251799813685470, 2251799813685467, 2251799813685427, '<default>', 'CANCEL_PROCESS_INSTANCE', 2251799813685427, 2251799813685427, 'COMPLETED', 1795111193186, NULL);
INSERT INTO public.batch_items VALUES (1, 2251799813685471, 2251799813685467, 2251799813685432, '<default>', 'CANCEL_PROCESS_INSTANCE', 2251799813685432, 2251799813685432, 'COMPLETED', 1795111193186, NULL);
INSERT INTO public.batch_items VALUES (1, 2251799813685480, 2251799813685477, 2251799813685437, '<default>', 'CANCEL_PROCESS_INSTANCE', 2251799813685437, 2251799813685437, 'ACTIVE', NULL, NULL);
INSERT INTO public.batch_items VALUES (1, 2251799813685481, 2251799813685477, 2251799813685442, '<default>', 'CANCEL_PROCESS_INSTANCE', 2251799813685442, 2251799813685442, 'ACTIVE', NULL, NULL);
INSERT INTO public.batch_items VALUES (1, 2251799813685482, 2251799813685477, 2251799813685447, '<default>', 'CANCEL_PROCESS_INSTANCE', 2251799813685447, 2251799813685447, 'ACTIVE', NULL, NULL);
INSERT INTO public.batch_items VALUES (1, 2251799813685483, 2251799813685477, 2251799813685452, '<default>', 'CANCEL_PROCESS_INSTANCE', 2251799813685452, 2251799813685452, 'ACTIVE', NULL, NULL);
INSERT INTO public.batch_items VALUES (1, 2251799813685484, 2251799813685477, 2251799813685457, '<default>', 'CANCEL_PROCESS_INSTANCE', 2251799813685457, 2251799813685457, 'ACTIVE', NULL, NULL);
INSERT INTO public.batch_items VALUES (1, 2251799813685485, 2251799813685477, 2251799813685462, '<default>', 'CANCEL_PROCESS_INSTANCE', 2251799813685462, 2251799813685462, 'ACTIVE', NULL, NULL);
INSERT INTO public.batch_operations VALUES (1, 2251799813685467, '<default>', 'CANCEL_PROCESS_INSTANCE', 'COMPLETED', 'anonymous', 1795111192166, 1795111193225, NULL, 2, 2, 0, NULL, '\x02330100190001160201020201e68280808080800801f0828080808080081609616e6f6e796d6f75730001093c64656661756c743e', NULL);
INSERT INTO public.batch_operations VALUES (1, 2251799813685477, '<default>', 'CANCEL_PROCESS_INSTANCE', 'SUSPENDED', 'anonymous', 1795111193336, NULL, NULL, 6, 0, 0, NULL, '\x022601000c000109020a0002046d616e791609616e6f6e796d6f75730001093c64656661756c743e', NULL);
INSERT INTO public.compensations VALUES (1, 2251799813685348, 2251799813685342, 2251799813685342, 2);
INSERT INTO public.compensations VALUES (1, 2251799813685361, 2251799813685355, 2251799813685355, 2);
INSERT INTO public.definition_elements VALUES (1, 2251799813685257, 0, 'all', NULL, 'PROCESS', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685257, 1, 'begin', NULL, 'START_EVENT', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685257, 2, 'fork', NULL, 'PARALLEL_GATEWAY', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685257, 3, 'pack', NULL, 'SERVICE_TASK', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685257, 4, 'approve', 'Approve it', 'USER_TASK', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685257, 5, 'wait', NULL, 'INTERMEDIATE_CATCH_EVENT', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685257, 6, 'parcel', NULL, 'INTERMEDIATE_CATCH_EVENT', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685257, 7, 'signal', NULL, 'INTERMEDIATE_CATCH_EVENT', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685257, 8, 'ready', NULL, 'INTERMEDIATE_CATCH_EVENT', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685257, 9, 'join', NULL, 'PARALLEL_GATEWAY', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685257, 10, 'done', NULL, 'END_EVENT', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685258, 0, 'undo', NULL, 'PROCESS', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685258, 1, 'start', NULL, 'START_EVENT', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685258, 2, 'book', NULL, 'SERVICE_TASK', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685258, 3, 'booked', NULL, 'BOUNDARY_EVENT', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685258, 4, 'unbook', NULL, 'SERVICE_TASK', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685258, 5, 'pay', NULL, 'SERVICE_TASK', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685258, 6, 'back', NULL, 'END_EVENT', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685259, 0, 'begun', NULL, 'PROCESS', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685259, 1, 'ask', NULL, 'START_EVENT', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685259, 2, 'answer', NULL, 'SERVICE_TASK', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685261, 0, 'many', NULL, 'PROCESS', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685261, 1, 'one', NULL, 'START_EVENT', '{}');
INSERT INTO public.definition_elements VALUES (1, 2251799813685261, 2, 'idle', NULL, 'SERVICE_TASK', '{}');
INSERT INTO public.definitions VALUES (1, 2251799813685257, 'all', 1, NULL, NULL, '<default>', 2251799813685256, 'later.bpmn', 2251799813685255, '\xdb521948e5256f9ec247c0a7d43a821fdbd631475d98f98a177193cd575db987', false, '\x020e07746f2d666f726b07746f2d7061636b0a746f2d617070726f766507746f2d7761697409746f2d70617263656c09746f2d7369676e616c08746f2d72656164790966726f6d2d7061636b0c66726f6d2d617070726f76650966726f6d2d776169740b66726f6d2d70617263656c0b66726f6d2d7369676e616c0a66726f6d2d726561647907746f2d646f6e65', NULL, NULL);
INSERT INTO public.definitions VALUES (1, 2251799813685258, 'undo', 1, NULL, NULL, '<default>', 2251799813685256, 'later.bpmn', 2251799813685255, '\xdb521948e5256f9ec247c0a7d43a821fdbd631475d98f98a177193cd575db987', false, '\x020307746f2d626f6f6b06746f2d70617907746f2d6261636b', NULL, NULL);
INSERT INTO public.definitions VALUES (1, 2251799813685259, 'begun', 1, NULL, NULL, '<default>', 2251799813685256, 'later.bpmn', 2251799813685255, '\xdb521948e5256f9ec247c0a7d43a821fdbd631475d98f98a177193cd575db987', false, '\x020109746f2d616e73776572', NULL, NULL);
INSERT INTO public.definitions VALUES (1, 2251799813685261, 'many', 1, NULL, NULL, '<default>', 2251799813685256, 'later.bpmn', 2251799813685255, '\xdb521948e5256f9ec247c0a7d43a821fdbd631475d98f98a177193cd575db987', false, '\x020107746f2d69646c65', NULL, NULL);
INSERT INTO public.dispatch_outbox VALUES (1, 2251799813685413, 2251799813685412, 0, 0, 'announced', '<default>', 3, 1795111191854, '{"to":"ann"}', 1, '', NULL, NULL);
INSERT INTO public.elements VALUES (1, 2251799813685306, 2251799813685303, 2251799813685257, 1, 2251799813685303, 'COMPLETED', 2, 1795111190718, 1795111190718, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685307, 2251799813685303, 2251799813685257, 2, 2251799813685303, 'COMPLETED', 2, 1795111190718, 1795111190718, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685308, 2251799813685303, 2251799813685257, 8, 2251799813685303, 'ACTIVE', 1, 1795111190718, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685309, 2251799813685303, 2251799813685257, 7, 2251799813685303, 'ACTIVE', 1, 1795111190718, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685310, 2251799813685303, 2251799813685257, 6, 2251799813685303, 'ACTIVE', 1, 1795111190718, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685311, 2251799813685303, 2251799813685257, 5, 2251799813685303, 'ACTIVE', 1, 1795111190718, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685312, 2251799813685303, 2251799813685257, 4, 2251799813685303, 'ACTIVE', 1, 1795111190718, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685323, 2251799813685303, 2251799813685257, 3, 2251799813685313, 'ACTIVE', 1, 1795111190718, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685326, 2251799813685303, 2251799813685257, 3, 2251799813685313, 'ACTIVE', 1, 1795111190718, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685313, 2251799813685303, 2251799813685257, 3, 2251799813685303, 'ACTIVE', 1, 1795111190718, NULL, NULL, '3 3 1 0', NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685320, 2251799813685303, 2251799813685257, 3, 2251799813685313, 'COMPLETED', 2, 1795111190718, 1795111190771, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685343, 2251799813685342, 2251799813685258, 1, 2251799813685342, 'COMPLETED', 2, 1795111190915, 1795111190915, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685344, 2251799813685342, 2251799813685258, 2, 2251799813685342, 'COMPLETED', 2, 1795111190915, 1795111191019, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685349, 2251799813685342, 2251799813685258, 5, 2251799813685342, 'ACTIVE', 0, 1795111191019, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685356, 2251799813685355, 2251799813685258, 1, 2251799813685355, 'COMPLETED', 2, 1795111191075, 1795111191075, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685357, 2251799813685355, 2251799813685258, 2, 2251799813685355, 'COMPLETED', 2, 1795111191075, 1795111191130, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685362, 2251799813685355, 2251799813685258, 5, 2251799813685355, 'ACTIVE', 1, 1795111191130, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685376, 2251799813685374, 2251799813685259, 1, 2251799813685374, 'COMPLETED', 2, 1795111191270, 1795111191270, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685378, 2251799813685374, 2251799813685259, 2, 2251799813685374, 'ACTIVE', 1, 1795111191270, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685417, 2251799813685415, 2251799813685258, 1, 2251799813685415, 'COMPLETED', 2, 1795111191882, 1795111191882, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685418, 2251799813685415, 2251799813685258, 2, 2251799813685415, 'ACTIVE', 1, 1795111191882, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685423, 2251799813685421, 2251799813685258, 1, 2251799813685421, 'COMPLETED', 2, 1795111191922, 1795111191922, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685424, 2251799813685421, 2251799813685258, 2, 2251799813685421, 'ACTIVE', 1, 1795111191922, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685428, 2251799813685427, 2251799813685261, 1, 2251799813685427, 'COMPLETED', 2, 1795111191943, 1795111191943, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685433, 2251799813685432, 2251799813685261, 1, 2251799813685432, 'COMPLETED', 2, 1795111191977, 1795111191977, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685438, 2251799813685437, 2251799813685261, 1, 2251799813685437, 'COMPLETED', 2, 1795111192014, 1795111192014, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685439, 2251799813685437, 2251799813685261, 2, 2251799813685437, 'ACTIVE', 1, 1795111192014, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685443, 2251799813685442, 2251799813685261, 1, 2251799813685442, 'COMPLETED', 2, 1795111192025, 1795111192025, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685444, 2251799813685442, 2251799813685261, 2, 2251799813685442, 'ACTIVE', 1, 1795111192025, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685448, 2251799813685447, 2251799813685261, 1, 2251799813685447, 'COMPLETED', 2, 1795111192043, 1795111192043, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685449, 2251799813685447, 2251799813685261, 2, 2251799813685447, 'ACTIVE', 1, 1795111192043, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685453, 2251799813685452, 2251799813685261, 1, 2251799813685452, 'COMPLETED', 2, 1795111192074, 1795111192074, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685454, 2251799813685452, 2251799813685261, 2, 2251799813685452, 'ACTIVE', 1, 1795111192074, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685458, 2251799813685457, 2251799813685261, 1, 2251799813685457, 'COMPLETED', 2, 1795111192095, 1795111192095, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685459, 2251799813685457, 2251799813685261, 2, 2251799813685457, 'ACTIVE', 1, 1795111192095, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685463, 2251799813685462, 2251799813685261, 1, 2251799813685462, 'COMPLETED', 2, 1795111192122, 1795111192122, NULL, NULL, NULL, true, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685464, 2251799813685462, 2251799813685261, 2, 2251799813685462, 'ACTIVE', 1, 1795111192122, NULL, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685429, 2251799813685427, 2251799813685261, 2, 2251799813685427, 'TERMINATED', 2, 1795111191943, 1795111193186, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.elements VALUES (1, 2251799813685434, 2251799813685432, 2251799813685261, 2, 2251799813685432, 'TERMINATED', 2, 1795111191977, 1795111193186, NULL, NULL, NULL, false, DEFAULT);
INSERT INTO public.global_listeners VALUES (1, 1, '\x02011a0a657665727977686572650861737369676e6564060104006400', 1795111190675, 'anonymous');
INSERT INTO public.identity VALUES (true, 'e819c0d6-283b-4161-afe7-004f7df03719');
INSERT INTO public.inboxes VALUES (1, 0, 0);
INSERT INTO public.instances VALUES (1, 2251799813685303, 2251799813685257, 'ACTIVE', 1, 1795111190718, NULL, NULL, NULL, 2251799813685303, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.instances VALUES (1, 2251799813685342, 2251799813685258, 'ACTIVE', 1, 1795111190915, NULL, NULL, NULL, 2251799813685342, '', NULL, 0, 0, NULL, 1795111191041);
INSERT INTO public.instances VALUES (1, 2251799813685355, 2251799813685258, 'ACTIVE', 1, 1795111191075, NULL, NULL, NULL, 2251799813685355, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.instances VALUES (1, 2251799813685374, 2251799813685259, 'ACTIVE', 1, 1795111191270, NULL, NULL, NULL, 2251799813685374, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.instances VALUES (1, 2251799813685415, 2251799813685258, 'ACTIVE', 1, 1795111191882, NULL, NULL, NULL, 2251799813685415, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.instances VALUES (1, 2251799813685421, 2251799813685258, 'ACTIVE', 1, 1795111191922, NULL, NULL, NULL, 2251799813685421, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.instances VALUES (1, 2251799813685437, 2251799813685261, 'ACTIVE', 1, 1795111192014, NULL, NULL, NULL, 2251799813685437, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.instances VALUES (1, 2251799813685442, 2251799813685261, 'ACTIVE', 1, 1795111192025, NULL, NULL, NULL, 2251799813685442, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.instances VALUES (1, 2251799813685447, 2251799813685261, 'ACTIVE', 1, 1795111192043, NULL, NULL, NULL, 2251799813685447, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.instances VALUES (1, 2251799813685452, 2251799813685261, 'ACTIVE', 1, 1795111192074, NULL, NULL, NULL, 2251799813685452, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.instances VALUES (1, 2251799813685457, 2251799813685261, 'ACTIVE', 1, 1795111192095, NULL, NULL, NULL, 2251799813685457, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.instances VALUES (1, 2251799813685462, 2251799813685261, 'ACTIVE', 1, 1795111192122, NULL, NULL, NULL, 2251799813685462, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.instances VALUES (1, 2251799813685427, 2251799813685261, 'TERMINATED', 2, 1795111191943, 1795111193186, NULL, NULL, 2251799813685427, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.instances VALUES (1, 2251799813685432, 2251799813685261, 'TERMINATED', 2, 1795111191977, 1795111193186, NULL, NULL, 2251799813685432, '', NULL, 0, 0, NULL, NULL);
INSERT INTO public.jobs VALUES (1, 2251799813685330, 2251799813685303, 2251799813685257, 3, 2251799813685323, 'pack', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111190718, 1795111190718, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685331, 2251799813685303, 2251799813685257, 3, 2251799813685326, 'pack', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111190718, 1795111190718, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685329, 2251799813685303, 2251799813685257, 3, 2251799813685320, 'pack', '<default>', 'COMPLETED', 'DONE', NULL, 3, 'worker-1', 1795114790756, '', '', false, 1795111190718, 1795111190771, 1795111190771, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795111190756, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685339, 2251799813685303, 2251799813685257, 4, 2251799813685312, 'check', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111190879, 1795111190879, NULL, 0, '{"io.camunda.zeebe:userTaskKey":"2251799813685318","io.camunda.zeebe:candidateGroups":"[\"clerks\",\"chiefs\"]","io.camunda.zeebe:candidateUsers":"[\"bob\"]","io.camunda.zeebe:priority":"70","io.camunda.zeebe:action":"complete"}', 'COMPLETING', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685345, 2251799813685342, 2251799813685258, 2, 2251799813685344, 'book', '<default>', 'COMPLETED', 'DONE', NULL, 3, 'worker-1', 1795114790980, '', '', false, 1795111190915, 1795111191019, 1795111191019, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795111190980, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685358, 2251799813685355, 2251799813685258, 2, 2251799813685357, 'book', '<default>', 'COMPLETED', 'DONE', NULL, 3, 'worker-1', 1795114791118, '', '', false, 1795111191075, 1795111191130, 1795111191130, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795111191118, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685351, 2251799813685342, 2251799813685258, 5, 2251799813685349, 'hear', '<default>', 'CREATED', 'BACKING_OFF', NULL, 3, '', NULL, '', '', false, 1795111191019, 1795111191143, NULL, 0, '{}', 'START', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685364, 2251799813685355, 2251799813685258, 5, 2251799813685362, 'hear', '<default>', 'COMPLETED', 'DONE', NULL, 3, 'worker-1', 1795114791143, '', '', false, 1795111191130, 1795111191179, 1795111191179, 0, '{}', 'START', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795111191143, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685367, 2251799813685355, 2251799813685258, 5, 2251799813685362, 'pay', '<default>', 'CREATED', 'LEASED', 1795114791247, 3, 'worker-1', 1795114791247, '', '', false, 1795111191179, 1795111191206, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795111191206, 1, '{"percent":40,"message":"half way","data":{"page":7}}', DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685379, 2251799813685374, 2251799813685259, 2, 2251799813685378, 'answer', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111191270, 1795111191270, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685388, NULL, NULL, NULL, NULL, 'mail', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111191442, 1795111191442, NULL, 5, NULL, NULL, NULL, '{"customer":1}', '{"customer":1,"n":2}', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685390, NULL, NULL, NULL, NULL, 'mail', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111191474, 1795111191474, NULL, 5, NULL, NULL, NULL, '{"customer":1}', '{"customer":1,"n":3}', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685386, NULL, NULL, NULL, NULL, 'mail', '<default>', 'CREATED', 'LEASED', 1795114791531, 3, 'worker-1', 1795114791531, '', '', false, 1795111191406, 1795111191531, NULL, 10, NULL, NULL, NULL, '{"customer":1}', '{"customer":1,"n":1}', NULL, 1, 1795111191531, NULL, NULL, 1795111191531, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685395, NULL, NULL, NULL, NULL, 'report', '<default>', 'CREATED', 'BACKING_OFF', 4922899200000, 3, '', NULL, '', '', false, 1795111191587, 1795111191587, NULL, 0, NULL, NULL, NULL, NULL, '{"big":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}', NULL, 0, NULL, 'report', 1795114791587, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685399, NULL, NULL, NULL, NULL, 'mail', '<default>', 'CANCELED', 'DONE', NULL, 3, '', NULL, '', '', false, 1795111191669, 1795111191685, 1795111191685, 0, NULL, NULL, NULL, '{"customer":4}', '{"customer":4}', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685392, NULL, NULL, NULL, NULL, 'mail', '<default>', 'CREATED', 'LEASED', 1795114791707, 5, 'worker-1', 1795114791707, '', '', false, 1795111191501, 1795111191707, NULL, 0, NULL, NULL, NULL, '{"customer":2}', '{"customer":2}', NULL, 1, 1795111191707, NULL, NULL, 1795111191707, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685397, NULL, NULL, NULL, NULL, 'mail', '<default>', 'COMPLETED', 'DONE', NULL, 3, 'worker-1', 1795114791730, '', '', false, 1795111191630, 1795111191744, 1795111191744, 0, NULL, NULL, NULL, '{"customer":3}', '{"customer":3}', '{"sent":true}', 1, 1795111191730, NULL, NULL, 1795111191730, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685406, NULL, NULL, NULL, NULL, 'print', '<default>', 'FAILED', 'STUCK', NULL, 0, 'worker-1', 1795114791818, '', 'no paper', false, 1795111191794, 1795111191840, 1795111191840, 0, NULL, NULL, NULL, NULL, '{}', NULL, 1, 1795111191818, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685412, NULL, NULL, NULL, NULL, 'announced', '<default>', 'CREATED', 'LEASED', 1795111491854, 3, 'kafka', 1795111491854, '', '', false, 1795111191854, 1795111191854, NULL, 0, NULL, NULL, NULL, NULL, '{"to":"ann"}', NULL, 1, 1795111191854, NULL, NULL, 1795111191854, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685419, 2251799813685415, 2251799813685258, 2, 2251799813685418, 'book', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111191882, 1795111191882, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685425, 2251799813685421, 2251799813685258, 2, 2251799813685424, 'book', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111191922, 1795111191922, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685440, 2251799813685437, 2251799813685261, 2, 2251799813685439, 'idle', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111192014, 1795111192014, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685445, 2251799813685442, 2251799813685261, 2, 2251799813685444, 'idle', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111192025, 1795111192025, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685450, 2251799813685447, 2251799813685261, 2, 2251799813685449, 'idle', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111192043, 1795111192043, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685455, 2251799813685452, 2251799813685261, 2, 2251799813685454, 'idle', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111192074, 1795111192074, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685460, 2251799813685457, 2251799813685261, 2, 2251799813685459, 'idle', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111192095, 1795111192095, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685430, 2251799813685427, 2251799813685261, 2, 2251799813685429, 'idle', '<default>', 'CANCELED', 'DONE', NULL, 3, '', NULL, '', '', false, 1795111191943, 1795111193186, 1795111193186, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685435, 2251799813685432, 2251799813685261, 2, 2251799813685434, 'idle', '<default>', 'CANCELED', 'DONE', NULL, 3, '', NULL, '', '', false, 1795111191977, 1795111193186, 1795111193186, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.jobs VALUES (1, 2251799813685465, 2251799813685462, 2251799813685261, 2, 2251799813685464, 'idle', '<default>', 'CREATED', 'READY', NULL, 3, '', NULL, '', '', false, 1795111192122, 1795111192122, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.log VALUES (1, 1, 'deploy', 1795111189748, NULL, '\x');
INSERT INTO public.log VALUES (1, 2, 'put-listener', 1795111190675, NULL, '\x');
INSERT INTO public.log VALUES (1, 3, 'put-policy', 1795111190698, NULL, '\x');
INSERT INTO public.log VALUES (1, 4, 'put-schedule', 1795111190705, NULL, '\x');
INSERT INTO public.log VALUES (1, 5, 'create', 1795111190718, 2251799813685303, '\x02301100b78080808080800489808080808080041201b78080808080800400b7808080808080041d09b880808080808004b780808080808004056f7264657205226f2d31222609b980808080808004b780808080808004046e6f74650f22c3a4205c2271756f7465645c22220902b7808080808080041201ba8080808080800401b7808080808080040902ba808080808080040903ba808080808080040904ba808080808080041201bb8080808080800402b7808080808080040902bb808080808080040904bb808080808080041201bc8080808080800408b7808080808080040902bc808080808080041413c280808080808004bc808080808080040001051201bd8080808080800407b7808080808080040902bd808080808080041713c380808080808004bd8080808080800400040402676f1201be8080808080800406b7808080808080040902be808080808080042013c480808080808004be80808080808004000d030761727269766564036f2d311201bf8080808080800405b7808080808080040902bf808080808080043913c580808080808004bf808080808080040026020014323132362d30312d30315430303a30303a30305a0efc82b8cfbe680180e0c3bac69e021201c08080808080800404b7808080808080040902c0808080808080043013c680808080808004c080808080808004001d3c1b000206636c65726b73066368696566730103626f6200008c0100001201c18080808080800403b7808080808080040e28c18080808080800404000000000902c1808080808080040e28c18080808080800404030000002909c780808080808004c180808080808004067061636b6564105b6e756c6c2c6e756c6c2c6e756c6c5d1201c88080808080800403c1808080808080041f09c980808080808004c8808080808080040b6c6f6f70436f756e74657201311509ca80808080808004c880808080808004016e01311201cb8080808080800403c1808080808080041f09cc80808080808004cb808080808080040b6c6f6f70436f756e74657201321509cd80808080808004cb80808080808004016e01321201ce8080808080800403c1808080808080041f09cf80808080808004ce808080808080040b6c6f6f70436f756e74657201331509d080808080808004ce80808080808004016e01330e28c18080808080800404030300000902c8808080808080041a13d180808080808004c880808080808004000700047061636b060902cb808080808080041a13d280808080808004cb80808080808004000700047061636b060902ce808080808080041a13d380808080808004ce80808080808004000700047061636b06');
INSERT INTO public.log VALUES (1, 6, 'report', 1795111190771, 2251799813685303, '\x0206140cd180808080808004c8808080808080040001000903c8808080808080042309d680808080808004c1808080808080040f63617564616c3a6f75747075743a310132260ac780808080808004c180808080808004067061636b65640d5b322c6e756c6c2c6e756c6c5d0904c8808080808080040e28c1808080808080040403030100');
INSERT INTO public.log VALUES (1, 7, 'complete-user-task', 1795111190879, 2251799813685303, '\x02033609d980808080808004c0808080808080040c63617564616c3a676976656e175b66616c73652c22617070726f766564222c747275655d2f09da80808080808004c0808080808080040c63617564616c3a68656172641022636f6d706c6574696e6720302031221d13db80808080808004c080808080808004000a230605636865636b0600');
INSERT INTO public.log VALUES (1, 8, 'create', 1795111190915, 2251799813685342, '\x020a1100de808080808080048a808080808080041201de8080808080800400de808080808080040902de808080808080041201df8080808080800401de808080808080040902df808080808080040903df808080808080040904df808080808080041201e08080808080800402de808080808080040902e0808080808080041a13e180808080808004e08080808080800400070004626f6f6b06');
INSERT INTO public.log VALUES (1, 9, 'report', 1795111191019, 2251799813685342, '\x0207140ce180808080808004e0808080808080040001000903e0808080808080041329de8080808080800409e480808080808004020904e0808080808080041201e58080808080800405de808080808080042809e680808080808004e5808080808080040c63617564616c3a6865617264092273746172742030221c13e780808080808004e5808080808080040009230104686561720600');
INSERT INTO public.log VALUES (1, 10, 'suspend', 1795111191041, 2251799813685342, '\x0201012d');
INSERT INTO public.log VALUES (1, 11, 'create', 1795111191075, 2251799813685355, '\x020a1100eb808080808080048a808080808080041201eb8080808080800400eb808080808080040902eb808080808080041201ec8080808080800401eb808080808080040902ec808080808080040903ec808080808080040904ec808080808080041201ed8080808080800402eb808080808080040902ed808080808080041a13ee80808080808004ed8080808080800400070004626f6f6b06');
INSERT INTO public.log VALUES (1, 12, 'report', 1795111191130, 2251799813685355, '\x0207140cee80808080808004ed808080808080040001000903ed808080808080041329eb8080808080800409f180808080808004020904ed808080808080041201f28080808080800405eb808080808080042809f380808080808004f2808080808080040c63617564616c3a6865617264092273746172742030221c13f480808080808004f2808080808080040009230104686561720600');
INSERT INTO public.log VALUES (1, 13, 'report', 1795111191179, 2251799813685355, '\x0204140cf480808080808004f280808080808004000100280af380808080808004f2808080808080040c63617564616c3a6865617264092273746172742031220902f2808080808080041913f780808080808004f2808080808080040006000370617906');
INSERT INTO public.log VALUES (1, 14, 'report', 1795111191247, NULL, '\x');
INSERT INTO public.log VALUES (1, 15, 'publish', 1795111191270, 2251799813685374, '\x020c1100fe808080808080048b808080808080041201fe8080808080800400fe808080808080041509ff80808080808004fe80808080808004016e01310902fe808080808080041201808180808080800401fe80808080808004150981818080808080048081808080808004016e01310902808180808080800409038081808080808004090480818080808080041201828180808080800402fe80808080808004090282818080808080041c138381808080808004828180808080800400090006616e7377657206');
INSERT INTO public.log VALUES (1, 16, 'publish', 1795111191333, NULL, '\x');
INSERT INTO public.log VALUES (1, 17, 'publish', 1795111191383, NULL, '\x');
INSERT INTO public.log VALUES (1, 18, 'submit', 1795111191406, NULL, '\x');
INSERT INTO public.log VALUES (1, 19, 'submit', 1795111191442, NULL, '\x');
INSERT INTO public.log VALUES (1, 20, 'submit', 1795111191474, NULL, '\x');
INSERT INTO public.log VALUES (1, 21, 'submit', 1795111191501, NULL, '\x');
INSERT INTO public.log VALUES (1, 22, 'submit', 1795111191587, NULL, '\x');
INSERT INTO public.log VALUES (1, 23, 'submit', 1795111191630, NULL, '\x');
INSERT INTO public.log VALUES (1, 24, 'submit', 1795111191669, NULL, '\x');
INSERT INTO public.log VALUES (1, 25, 'cancel-execution', 1795111191685, NULL, '\x');
INSERT INTO public.log VALUES (1, 26, 'report', 1795111191744, NULL, '\x');
INSERT INTO public.log VALUES (1, 27, 'submit', 1795111191794, NULL, '\x');
INSERT INTO public.log VALUES (1, 28, 'report', 1795111191840, NULL, '\x');
INSERT INTO public.log VALUES (1, 29, 'submit', 1795111191854, NULL, '\x');
INSERT INTO public.log VALUES (1, 30, 'create', 1795111191882, 2251799813685415, '\x020b1100a7818080808080048a808080808080041201a78180808080800400a7818080808080041c09a881808080808004a78180808080800403666f720622646f6e65220902a7818080808080041201a98180808080800401a7818080808080040902a9818080808080040903a9818080808080040904a9818080808080041201aa8180808080800402a7818080808080040902aa818080808080041a13ab81808080808004aa8180808080800400070004626f6f6b06');
INSERT INTO public.log VALUES (1, 31, 'create', 1795111191922, 2251799813685421, '\x020b1100ad818080808080048a808080808080041201ad8180808080800400ad818080808080041c09ae81808080808004ad8180808080800403666f720622646f6e65220902ad818080808080041201af8180808080800401ad818080808080040902af818080808080040903af818080808080040904af818080808080041201b08180808080800402ad818080808080040902b0818080808080041a13b181808080808004b08180808080800400070004626f6f6b06');
INSERT INTO public.log VALUES (1, 32, 'create', 1795111191943, 2251799813685427, '\x020a1100b3818080808080048d808080808080041201b38180808080800400b3818080808080040902b3818080808080041201b48180808080800401b3818080808080040902b4818080808080040903b4818080808080040904b4818080808080041201b58180808080800402b3818080808080040902b5818080808080041a13b681808080808004b5818080808080040007000469646c6506');
INSERT INTO public.log VALUES (1, 33, 'create', 1795111191977, 2251799813685432, '\x020a1100b8818080808080048d808080808080041201b88180808080800400b8818080808080040902b8818080808080041201b98180808080800401b8818080808080040902b9818080808080040903b9818080808080040904b9818080808080041201ba8180808080800402b8818080808080040902ba818080808080041a13bb81808080808004ba818080808080040007000469646c6506');
INSERT INTO public.log VALUES (1, 34, 'create', 1795111192014, 2251799813685437, '\x020a1100bd818080808080048d808080808080041201bd8180808080800400bd818080808080040902bd818080808080041201be8180808080800401bd818080808080040902be818080808080040903be818080808080040904be818080808080041201bf8180808080800402bd818080808080040902bf818080808080041a13c081808080808004bf818080808080040007000469646c6506');
INSERT INTO public.log VALUES (1, 35, 'create', 1795111192025, 2251799813685442, '\x020a1100c2818080808080048d808080808080041201c28180808080800400c2818080808080040902c2818080808080041201c38180808080800401c2818080808080040902c3818080808080040903c3818080808080040904c3818080808080041201c48180808080800402c2818080808080040902c4818080808080041a13c581808080808004c4818080808080040007000469646c6506');
INSERT INTO public.log VALUES (1, 36, 'create', 1795111192043, 2251799813685447, '\x020a1100c7818080808080048d808080808080041201c78180808080800400c7818080808080040902c7818080808080041201c88180808080800401c7818080808080040902c8818080808080040903c8818080808080040904c8818080808080041201c98180808080800402c7818080808080040902c9818080808080041a13ca81808080808004c9818080808080040007000469646c6506');
INSERT INTO public.log VALUES (1, 37, 'create', 1795111192074, 2251799813685452, '\x020a1100cc818080808080048d808080808080041201cc8180808080800400cc818080808080040902cc818080808080041201cd8180808080800401cc818080808080040902cd818080808080040903cd818080808080040904cd818080808080041201ce8180808080800402cc818080808080040902ce818080808080041a13cf81808080808004ce818080808080040007000469646c6506');
INSERT INTO public.log VALUES (1, 38, 'create', 1795111192095, 2251799813685457, '\x020a1100d1818080808080048d808080808080041201d18180808080800400d1818080808080040902d1818080808080041201d28180808080800401d1818080808080040902d2818080808080040903d2818080808080040904d2818080808080041201d38180808080800402d1818080808080040902d3818080808080041a13d481808080808004d3818080808080040007000469646c6506');
INSERT INTO public.log VALUES (1, 39, 'create', 1795111192122, 2251799813685462, '\x020a1100d6818080808080048d808080808080041201d68180808080800400d6818080808080040902d6818080808080041201d78180808080800401d6818080808080040902d7818080808080040903d7818080808080040904d7818080808080041201d88180808080800402d6818080808080040902d8818080808080041a13d981808080808004d8818080808080040007000469646c6506');
INSERT INTO public.log VALUES (1, 40, 'start-batch', 1795111192154, NULL, '\x');
INSERT INTO public.log VALUES (1, 41, 'batch-due', 1795111192166, NULL, '\x');
INSERT INTO public.log VALUES (1, 42, 'batch-due', 1795111192676, NULL, '\x');
INSERT INTO public.log VALUES (1, 43, 'batch-item', 1795111193186, 2251799813685427, '\x0204140cb681808080808004b5818080808080040101000905b5818080808080040905b381808080808004020f01');
INSERT INTO public.log VALUES (1, 44, 'batch-item', 1795111193217, 2251799813685432, '\x0204140cbb81808080808004ba818080808080040101000905ba818080808080040905b881808080808004020f01');
INSERT INTO public.log VALUES (1, 45, 'batch-due', 1795111193225, NULL, '\x');
INSERT INTO public.log VALUES (1, 46, 'start-batch', 1795111193321, NULL, '\x');
INSERT INTO public.log VALUES (1, 47, 'batch-due', 1795111193336, NULL, '\x');
INSERT INTO public.log VALUES (1, 48, 'suspend-batch', 1795111193364, NULL, '\x');
INSERT INTO public.message_correlations VALUES (1, 2251799813685380, 2251799813685373, 2251799813685260, '<default>', 'asked', 'k', 2251799813685259, 'begun', 2251799813685374, 2251799813685374, 1, NULL, 1795111191270);
INSERT INTO public.message_locks VALUES (1, '<default>', 'begun', 'k', 2251799813685374);
INSERT INTO public.messages VALUES (1, 2251799813685373, '<default>', 'asked', 'k', '', '\x0201016e0131', 1795111191270, 4948711191270, 'begun
');
INSERT INTO public.messages VALUES (1, 2251799813685382, '<default>', 'asked', 'k', '', '\x0201016e0132', 1795111191333, 4948711191333, '');
INSERT INTO public.messages VALUES (1, 2251799813685384, '<default>', 'arrived', 'o-2', 'm', '\x02010466726f6d09226561726c69657222', 1795111191383, 4948711191383, '');
INSERT INTO public.paces VALUES (1, 'mail', '<default>', '', '\x0203d68fb8cfbe6801b692b8cfbe6801e492b8cfbe6801', 1795111192730);
INSERT INTO public.partitions VALUES (1, 1, 'vm/127.0.0.1:18901127.0.0.1:18902#8561165976c21bef', 0, 48, 0, 2251799813685489, 1795111192122, 0);
INSERT INTO public.policies VALUES (1, 'per-customer', 1, '\x023302046d61696c06010d010108637573746f6d6572000001904e00010604e807d00f000000000101809f4901060001d00f000000', 1795111190698, 'anonymous');
INSERT INTO public.resources VALUES (1, 2251799813685256, 'later.bpmn', '\x3c3f786d6c2076657273696f6e3d22312e302220656e636f64696e673d225554462d38223f3e0a3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c2220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30220a20202020786d6c6e733a7873693d22687474703a2f2f7777772e77332e6f72672f323030312f584d4c536368656d612d696e7374616e6365222069643d226c6174657222207461726765744e616d6573706163653d2263617564616c223e0a20203c6d6573736167652069643d226172726976656422206e616d653d2261727269766564223e0a202020203c657874656e73696f6e456c656d656e74733e3c7a656562653a737562736372697074696f6e20636f7272656c6174696f6e4b65793d223d6f72646572222f3e3c2f657874656e73696f6e456c656d656e74733e0a20203c2f6d6573736167653e0a20203c6d6573736167652069643d2261736b656422206e616d653d2261736b6564222f3e0a20203c7369676e616c2069643d22676f22206e616d653d22676f222f3e0a20203c70726f636573732069643d22616c6c2220697345786563757461626c653d2274727565223e0a202020203c73746172744576656e742069643d22626567696e222f3e0a202020203c73657175656e6365466c6f772069643d22746f2d666f726b2220736f757263655265663d22626567696e22207461726765745265663d22666f726b222f3e0a202020203c706172616c6c656c476174657761792069643d22666f726b222f3e0a202020203c73657175656e6365466c6f772069643d22746f2d7061636b2220736f757263655265663d22666f726b22207461726765745265663d227061636b222f3e0a202020203c73657175656e6365466c6f772069643d22746f2d617070726f76652220736f757263655265663d22666f726b22207461726765745265663d22617070726f7665222f3e0a202020203c73657175656e6365466c6f772069643d22746f2d776169742220736f757263655265663d22666f726b22207461726765745265663d2277616974222f3e0a202020203c73657175656e6365466c6f772069643d22746f2d70617263656c2220736f757263655265663d22666f726b22207461726765745265663d2270617263656c222f3e0a202020203c73657175656e6365466c6f772069643d22746f2d7369676e616c2220736f757263655265663d22666f726b22207461726765745265663d227369676e616c222f3e0a202020203c73657175656e6365466c6f772069643d22746f2d72656164792220736f757263655265663d22666f726b22207461726765745265663d227265616479222f3e0a202020203c736572766963655461736b2069643d227061636b223e0a2020202020203c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d227061636b222f3e3c2f657874656e73696f6e456c656d656e74733e0a2020202020203c6d756c7469496e7374616e63654c6f6f704368617261637465726973746963733e0a20202020202020203c657874656e73696f6e456c656d656e74733e0a202020202020202020203c7a656562653a6c6f6f7043686172616374657269737469637320696e707574436f6c6c656374696f6e3d223d5b312c20322c20335d2220696e707574456c656d656e743d226e22206f7574707574436f6c6c656374696f6e3d227061636b656422206f7574707574456c656d656e743d223d6e202a2032222f3e0a20202020202020203c2f657874656e73696f6e456c656d656e74733e0a2020202020203c2f6d756c7469496e7374616e63654c6f6f704368617261637465726973746963733e0a202020203c2f736572766963655461736b3e0a202020203c757365725461736b2069643d22617070726f766522206e616d653d22417070726f7665206974223e0a2020202020203c657874656e73696f6e456c656d656e74733e0a20202020202020203c7a656562653a757365725461736b2f3e0a20202020202020203c7a656562653a61737369676e6d656e74446566696e6974696f6e2063616e64696461746547726f7570733d22636c65726b732c20636869656673222063616e64696461746555736572733d22626f62222f3e0a20202020202020203c7a656562653a7072696f72697479446566696e6974696f6e207072696f726974793d223730222f3e0a20202020202020203c7a656562653a7461736b4c697374656e6572733e3c7a656562653a7461736b4c697374656e6572206576656e74547970653d22636f6d706c6574696e672220747970653d22636865636b222f3e3c2f7a656562653a7461736b4c697374656e6572733e0a2020202020203c2f657874656e73696f6e456c656d656e74733e0a202020203c2f757365725461736b3e0a202020203c696e7465726d65646961746543617463684576656e742069643d2277616974223e0a2020202020203c74696d65724576656e74446566696e6974696f6e3e3c74696d6544617465207873693a747970653d2274466f726d616c45787072657373696f6e223e323132362d30312d30315430303a30303a30305a3c2f74696d65446174653e3c2f74696d65724576656e74446566696e6974696f6e3e0a202020203c2f696e7465726d65646961746543617463684576656e743e0a202020203c696e7465726d65646961746543617463684576656e742069643d2270617263656c223e3c6d6573736167654576656e74446566696e6974696f6e206d6573736167655265663d2261727269766564222f3e3c2f696e7465726d65646961746543617463684576656e743e0a202020203c696e7465726d65646961746543617463684576656e742069643d227369676e616c223e3c7369676e616c4576656e74446566696e6974696f6e207369676e616c5265663d22676f222f3e3c2f696e7465726d65646961746543617463684576656e743e0a202020203c696e7465726d65646961746543617463684576656e742069643d227265616479223e0a2020202020203c636f6e646974696f6e616c4576656e74446566696e6974696f6e3e3c636f6e646974696f6e207873693a747970653d2274466f726d616c45787072657373696f6e223e3d7265616479203d20747275653c2f636f6e646974696f6e3e3c2f636f6e646974696f6e616c4576656e74446566696e6974696f6e3e0a202020203c2f696e7465726d65646961746543617463684576656e743e0a202020203c73657175656e6365466c6f772069643d2266726f6d2d7061636b2220736f757263655265663d227061636b22207461726765745265663d226a6f696e222f3e0a202020203c73657175656e6365466c6f772069643d2266726f6d2d617070726f76652220736f757263655265663d22617070726f766522207461726765745265663d226a6f696e222f3e0a202020203c73657175656e6365466c6f772069643d2266726f6d2d776169742220736f757263655265663d227761697422207461726765745265663d226a6f696e222f3e0a202020203c73657175656e6365466c6f772069643d2266726f6d2d70617263656c2220736f757263655265663d2270617263656c22207461726765745265663d226a6f696e222f3e0a202020203c73657175656e6365466c6f772069643d2266726f6d2d7369676e616c2220736f757263655265663d227369676e616c22207461726765745265663d226a6f696e222f3e0a202020203c73657175656e6365466c6f772069643d2266726f6d2d72656164792220736f757263655265663d22726561647922207461726765745265663d226a6f696e222f3e0a202020203c706172616c6c656c476174657761792069643d226a6f696e222f3e0a202020203c73657175656e6365466c6f772069643d22746f2d646f6e652220736f757263655265663d226a6f696e22207461726765745265663d22646f6e65222f3e0a202020203c656e644576656e742069643d22646f6e65222f3e0a20203c2f70726f636573733e0a20203c70726f636573732069643d22756e646f2220697345786563757461626c653d2274727565223e0a202020203c73746172744576656e742069643d227374617274222f3e0a202020203c73657175656e6365466c6f772069643d22746f2d626f6f6b2220736f757263655265663d22737461727422207461726765745265663d22626f6f6b222f3e0a202020203c736572766963655461736b2069643d22626f6f6b223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d22626f6f6b222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e0a202020203c626f756e646172794576656e742069643d22626f6f6b656422206174746163686564546f5265663d22626f6f6b223e3c636f6d70656e736174654576656e74446566696e6974696f6e2f3e3c2f626f756e646172794576656e743e0a202020203c736572766963655461736b2069643d22756e626f6f6b22206973466f72436f6d70656e736174696f6e3d2274727565223e0a2020202020203c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d22756e626f6f6b222f3e3c2f657874656e73696f6e456c656d656e74733e0a202020203c2f736572766963655461736b3e0a202020203c6173736f63696174696f6e2069643d22756e646f6e652220736f757263655265663d22626f6f6b656422207461726765745265663d22756e626f6f6b22206173736f63696174696f6e446972656374696f6e3d224f6e65222f3e0a202020203c73657175656e6365466c6f772069643d22746f2d7061792220736f757263655265663d22626f6f6b22207461726765745265663d22706179222f3e0a202020203c736572766963655461736b2069643d22706179223e0a2020202020203c657874656e73696f6e456c656d656e74733e0a20202020202020203c7a656562653a7461736b446566696e6974696f6e20747970653d22706179222f3e0a20202020202020203c7a656562653a657865637574696f6e4c697374656e6572733e3c7a656562653a657865637574696f6e4c697374656e6572206576656e74547970653d2273746172742220747970653d2268656172222f3e3c2f7a656562653a657865637574696f6e4c697374656e6572733e0a2020202020203c2f657874656e73696f6e456c656d656e74733e0a202020203c2f736572766963655461736b3e0a202020203c73657175656e6365466c6f772069643d22746f2d6261636b2220736f757263655265663d2270617922207461726765745265663d226261636b222f3e0a202020203c656e644576656e742069643d226261636b223e3c636f6d70656e736174654576656e74446566696e6974696f6e2f3e3c2f656e644576656e743e0a20203c2f70726f636573733e0a20203c70726f636573732069643d22626567756e2220697345786563757461626c653d2274727565223e0a202020203c73746172744576656e742069643d2261736b223e3c6d6573736167654576656e74446566696e6974696f6e206d6573736167655265663d2261736b6564222f3e3c2f73746172744576656e743e0a202020203c73657175656e6365466c6f772069643d22746f2d616e737765722220736f757263655265663d2261736b22207461726765745265663d22616e73776572222f3e0a202020203c736572766963655461736b2069643d22616e73776572223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d22616e73776572222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e0a20203c2f70726f636573733e0a20203c70726f636573732069643d226d616e792220697345786563757461626c653d2274727565223e0a202020203c73746172744576656e742069643d226f6e65222f3e0a202020203c73657175656e6365466c6f772069643d22746f2d69646c652220736f757263655265663d226f6e6522207461726765745265663d2269646c65222f3e0a202020203c736572766963655461736b2069643d2269646c65223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d2269646c65222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e0a20203c2f70726f636573733e0a3c2f646566696e6974696f6e733e0a', '<default>');
INSERT INTO public.schedules VALUES (1, 2251799813685271, '<default>', 'yearly', 'report', 'R/2126-01-01T00:00:00Z/P1D', 4922899200000, '\x0281019780808080808004093c64656661756c743e06796561726c79067265706f72741a522f323132362d30312d30315430303a30303a30305a2f503144001d01046b696e64072273616c6573220006000109067265706f727400000000e282b8cfbe68010180e0c3bac69e02e282b8cfbe68e282b8cfbe6809616e6f6e796d6f757300');
INSERT INTO public.schema_version VALUES (1, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (2, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (3, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (4, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (5, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (6, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (7, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (8, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (9, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (10, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (11, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (12, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (13, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (14, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (15, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (16, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (17, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (18, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (19, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (20, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (21, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (22, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (23, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.schema_version VALUES (24, '2026-11-19 17:59:49.180739+00');
INSERT INTO public.subscriptions VALUES (1, 2251799813685260, 'MESSAGE', 'asked', '', NULL, '<default>', 2251799813685259, 'begun', 1, false, NULL, NULL, 'CREATED', 1795111189748, 1795111189748);
INSERT INTO public.subscriptions VALUES (1, 2251799813685314, 'CONDITION', '', '', NULL, '<default>', 2251799813685257, 'all', 8, false, 2251799813685303, 2251799813685308, 'CREATED', 1795111190718, 1795111190718);
INSERT INTO public.subscriptions VALUES (1, 2251799813685315, 'SIGNAL', 'go', '', NULL, '<default>', 2251799813685257, 'all', 7, false, 2251799813685303, 2251799813685309, 'CREATED', 1795111190718, 1795111190718);
INSERT INTO public.subscriptions VALUES (1, 2251799813685316, 'MESSAGE', 'arrived', 'o-1', NULL, '<default>', 2251799813685257, 'all', 6, false, 2251799813685303, 2251799813685310, 'CREATED', 1795111190718, 1795111190718);
INSERT INTO public.timers VALUES (1, 2251799813685317, 2251799813685317, 2251799813685303, 2251799813685311, 2251799813685257, '<default>', 5, 'DATE', '2126-01-01T00:00:00Z', 1795111190718, 1, 4922899200000, 'PENDING', 1795111190718, NULL);
INSERT INTO public.user_task_candidates VALUES (1, 2251799813685318, 'GROUP', 'chiefs', false, '<default>', 1795111190718, true, 70);
INSERT INTO public.user_task_candidates VALUES (1, 2251799813685318, 'USER', 'bob', false, '<default>', 1795111190718, true, 70);
INSERT INTO public.user_task_candidates VALUES (1, 2251799813685318, 'GROUP', 'clerks', false, '<default>', 1795111190718, true, 70);
INSERT INTO public.user_tasks VALUES (1, 2251799813685318, 2251799813685303, 2251799813685257, 4, 2251799813685312, '<default>', 'COMPLETING', NULL, 'clerks
chiefs
', 'bob
', NULL, NULL, 70, NULL, NULL, 1795111190718, NULL, '\x02240608636f6d706c65746519000206636c65726b73066368696566730103626f6200008c01');
INSERT INTO public.variables VALUES (1, 2251799813685304, 2251799813685303, 2251799813685257, 2251799813685303, 'order', '"o-1"');
INSERT INTO public.variables VALUES (1, 2251799813685305, 2251799813685303, 2251799813685257, 2251799813685303, 'note', '"ä \"quoted\""');
INSERT INTO public.variables VALUES (1, 2251799813685321, 2251799813685303, 2251799813685257, 2251799813685320, 'loopCounter', '1');
INSERT INTO public.variables VALUES (1, 2251799813685322, 2251799813685303, 2251799813685257, 2251799813685320, 'n', '1');
INSERT INTO public.variables VALUES (1, 2251799813685324, 2251799813685303, 2251799813685257, 2251799813685323, 'loopCounter', '2');
INSERT INTO public.variables VALUES (1, 2251799813685325, 2251799813685303, 2251799813685257, 2251799813685323, 'n', '2');
INSERT INTO public.variables VALUES (1, 2251799813685327, 2251799813685303, 2251799813685257, 2251799813685326, 'loopCounter', '3');
INSERT INTO public.variables VALUES (1, 2251799813685328, 2251799813685303, 2251799813685257, 2251799813685326, 'n', '3');
INSERT INTO public.variables VALUES (1, 2251799813685334, 2251799813685303, 2251799813685257, 2251799813685313, 'caudal:output:1', '2');
INSERT INTO public.variables VALUES (1, 2251799813685319, 2251799813685303, 2251799813685257, 2251799813685313, 'packed', '[2,null,null]');
INSERT INTO public.variables VALUES (1, 2251799813685337, 2251799813685303, 2251799813685257, 2251799813685312, 'caudal:given', '[false,"approved",true]');
INSERT INTO public.variables VALUES (1, 2251799813685338, 2251799813685303, 2251799813685257, 2251799813685312, 'caudal:heard', '"completing 0 1"');
INSERT INTO public.variables VALUES (1, 2251799813685350, 2251799813685342, 2251799813685258, 2251799813685349, 'caudal:heard', '"start 0"');
INSERT INTO public.variables VALUES (1, 2251799813685363, 2251799813685355, 2251799813685258, 2251799813685362, 'caudal:heard', '"start 1"');
INSERT INTO public.variables VALUES (1, 2251799813685375, 2251799813685374, 2251799813685259, 2251799813685374, 'n', '1');
INSERT INTO public.variables VALUES (1, 2251799813685377, 2251799813685374, 2251799813685259, 2251799813685376, 'n', '1');
INSERT INTO public.variables VALUES (1, 2251799813685416, 2251799813685415, 2251799813685258, 2251799813685415, 'for', '"done"');
INSERT INTO public.variables VALUES (1, 2251799813685422, 2251799813685421, 2251799813685258, 2251799813685421, 'for', '"done"');
ALTER TABLE ONLY public.answers
    ADD CONSTRAINT answers_pkey PRIMARY KEY (partition, "position");
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.batch_items
    ADD CONSTRAINT batch_items_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.batch_operations
    ADD CONSTRAINT batch_operations_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.compensations
    ADD CONSTRAINT compensations_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT decisions_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.definition_elements
    ADD CONSTRAINT definition_elements_pkey PRIMARY KEY (partition, definition, element);
ALTER TABLE ONLY public.definitions
    ADD CONSTRAINT definitions_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.dispatch_outbox
    ADD CONSTRAINT dispatch_outbox_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.document_links
    ADD CONSTRAINT document_links_pkey PRIMARY KEY (token);
ALTER TABLE ONLY public.document_parts
    ADD CONSTRAINT document_parts_pkey PRIMARY KEY (upload, number);
ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_upload_key UNIQUE (upload);
ALTER TABLE ONLY public.elements
    ADD CONSTRAINT elements_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.evaluated_decisions
    ADD CONSTRAINT evaluated_decisions_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.export_places
    ADD CONSTRAINT export_places_pkey PRIMARY KEY (partition, name);
ALTER TABLE ONLY public.forms
    ADD CONSTRAINT forms_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.global_listeners
    ADD CONSTRAINT global_listeners_pkey PRIMARY KEY (partition, version);
ALTER TABLE ONLY public.idempotent
    ADD CONSTRAINT idempotent_pkey PRIMARY KEY (partition, tenant, key);
ALTER TABLE ONLY public.identity
    ADD CONSTRAINT identity_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (partition, "position");
ALTER TABLE ONLY public.inboxes
    ADD CONSTRAINT inboxes_pkey PRIMARY KEY (partition);
ALTER TABLE ONLY public.incidents
    ADD CONSTRAINT incidents_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.instance_tags
    ADD CONSTRAINT instance_tags_pkey PRIMARY KEY (partition, tag, instance);
ALTER TABLE ONLY public.instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.log
    ADD CONSTRAINT log_pkey PRIMARY KEY (partition, "position");
ALTER TABLE ONLY public.message_correlations
    ADD CONSTRAINT message_correlations_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.message_locks
    ADD CONSTRAINT message_locks_pkey PRIMARY KEY (partition, tenant, process_id, correlation_key);
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.paces
    ADD CONSTRAINT paces_pkey PRIMARY KEY (partition, job_type, tenant, bucket);
ALTER TABLE ONLY public.partitions
    ADD CONSTRAINT partitions_pkey PRIMARY KEY (partition);
ALTER TABLE ONLY public.policies
    ADD CONSTRAINT policies_pkey PRIMARY KEY (partition, reference, version);
ALTER TABLE ONLY public.queue_stats
    ADD CONSTRAINT queue_stats_pkey PRIMARY KEY (partition, job_type, tenant);
ALTER TABLE ONLY public.requirements
    ADD CONSTRAINT requirements_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.resources
    ADD CONSTRAINT resources_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.schema_version
    ADD CONSTRAINT schema_version_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.signals
    ADD CONSTRAINT signals_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.timers
    ADD CONSTRAINT timers_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (partition, instance, scope, gateway, flow);
ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.user_task_candidates
    ADD CONSTRAINT user_task_candidates_pkey PRIMARY KEY (partition, task, kind, name);
ALTER TABLE ONLY public.user_tasks
    ADD CONSTRAINT user_tasks_pkey PRIMARY KEY (partition, key);
ALTER TABLE ONLY public.variables
    ADD CONSTRAINT variables_pkey PRIMARY KEY (partition, key);
CREATE INDEX answers_by_expiry ON public.answers USING btree (((partition + 0)), expires);
CREATE INDEX audit_by_instance ON public.audit USING btree (instance) WHERE (instance IS NOT NULL);
CREATE INDEX audit_by_job ON public.audit USING btree (job) WHERE (job IS NOT NULL);
CREATE INDEX audit_by_time ON public.audit USING btree (at, key);
CREATE INDEX audit_by_user_task ON public.audit USING btree (user_task) WHERE (user_task IS NOT NULL);
CREATE INDEX batch_items_by_batch ON public.batch_items USING btree (batch, key);
CREATE INDEX batch_items_by_instance ON public.batch_items USING btree (instance) WHERE (instance IS NOT NULL);
CREATE INDEX batch_items_open ON public.batch_items USING btree (batch, (
CASE
    WHEN (state = 'ACTIVE'::text) THEN key
    ELSE NULL::bigint
END)) WHERE (
CASE
    WHEN (state = 'ACTIVE'::text) THEN key
    ELSE NULL::bigint
END IS NOT NULL);
CREATE INDEX batch_operations_by_time ON public.batch_operations USING btree (((partition + 0)), due, ((key + 0))) WHERE (due IS NOT NULL);
CREATE INDEX compensations_by_instance ON public.compensations USING btree (instance);
CREATE UNIQUE INDEX decisions_by_requirements ON public.decisions USING btree (partition, requirements, place);
CREATE UNIQUE INDEX decisions_by_version ON public.decisions USING btree (partition, tenant, id, version);
CREATE UNIQUE INDEX definitions_by_version ON public.definitions USING btree (partition, tenant, process_id, version);
CREATE INDEX document_links_by_document ON public.document_links USING btree (tenant, id);
CREATE INDEX document_links_by_expiry ON public.document_links USING btree (expires);
CREATE INDEX document_parts_by_time ON public.document_parts USING btree (at);
CREATE INDEX documents_by_expiry ON public.documents USING btree (expires) WHERE (expires IS NOT NULL);
CREATE INDEX elements_by_element ON public.elements USING btree (definition, element);
CREATE INDEX elements_by_instance ON public.elements USING btree (instance, past);
CREATE INDEX elements_late ON public.elements USING btree (late) WHERE (late IS NOT NULL);
CREATE INDEX elements_stuck ON public.elements USING btree (partition, key) WHERE (stuck IS NOT NULL);
CREATE INDEX evaluated_decisions_alone ON public.evaluated_decisions USING btree (((partition + 0)), (
CASE
    WHEN (instance IS NULL) THEN evaluated
    ELSE NULL::bigint
END)) WHERE (
CASE
    WHEN (instance IS NULL) THEN evaluated
    ELSE NULL::bigint
END IS NOT NULL);
CREATE INDEX evaluated_decisions_by_decision ON public.evaluated_decisions USING btree (decision);
CREATE INDEX evaluated_decisions_by_evaluation ON public.evaluated_decisions USING btree (evaluation);
CREATE INDEX evaluated_decisions_by_instance ON public.evaluated_decisions USING btree (instance) WHERE (instance IS NOT NULL);
CREATE UNIQUE INDEX forms_by_version ON public.forms USING btree (id, tenant, version, partition);
CREATE INDEX idempotent_by_expiry ON public.idempotent USING btree (((partition + 0)), expires);
CREATE INDEX incidents_by_instance ON public.incidents USING btree (instance, ((resolved IS NULL)));
CREATE INDEX incidents_by_message ON public.incidents USING btree (message_hash);
CREATE INDEX instance_tags_by_instance ON public.instance_tags USING btree (instance);
CREATE INDEX instances_by_business_id ON public.instances USING btree (business_id) WHERE (business_id IS NOT NULL);
CREATE INDEX instances_by_definition ON public.instances USING btree (definition, partition, key) WHERE (definition IS NOT NULL);
CREATE INDEX instances_by_end ON public.instances USING btree (ended NULLS FIRST, ((key + 0)));
CREATE INDEX instances_by_parent ON public.instances USING btree (partition, parent_instance) WHERE (parent_instance IS NOT NULL);
CREATE INDEX instances_by_start ON public.instances USING btree (started);
CREATE INDEX instances_called ON public.instances USING btree ((
CASE
    WHEN (parent_instance IS NOT NULL) THEN root
    ELSE NULL::bigint
END), key) WHERE (
CASE
    WHEN (parent_instance IS NOT NULL) THEN root
    ELSE NULL::bigint
END IS NOT NULL);
CREATE INDEX instances_running ON public.instances USING btree (definition, partition, key) WHERE (state = 'ACTIVE'::text);
CREATE INDEX instances_stuck ON public.instances USING btree (partition, key) WHERE (stuck IS NOT NULL);
CREATE INDEX instances_suspended ON public.instances USING btree (key) WHERE (suspended IS NOT NULL);
CREATE INDEX instances_terminated ON public.instances USING btree (partition, key) WHERE (state = 'TERMINATED'::text);
CREATE INDEX jobs_by_instance ON public.jobs USING btree (instance, ((availability <> 'DONE'::text)));
CREATE INDEX jobs_by_state ON public.jobs USING btree (state, partition, key) WHERE ((state <> 'COMPLETED'::text) AND (instance IS NOT NULL));
CREATE INDEX jobs_by_type ON public.jobs USING btree (((job_type || ''::text)));
CREATE INDEX jobs_by_unique_key ON public.jobs USING btree (((partition + 0)), tenant, job_type, unique_key, key) WHERE (unique_key IS NOT NULL);
CREATE INDEX jobs_late ON public.jobs USING btree (late) WHERE (late IS NOT NULL);
CREATE INDEX jobs_over ON public.jobs USING btree (((partition + 0)), (
CASE
    WHEN (instance IS NULL) THEN ended
    ELSE NULL::bigint
END)) WHERE (
CASE
    WHEN (instance IS NULL) THEN ended
    ELSE NULL::bigint
END IS NOT NULL);
CREATE INDEX jobs_ready ON public.jobs USING btree (((partition + 0)), job_type, tenant, priority DESC, (
CASE
    WHEN (availability = 'READY'::text) THEN key
    ELSE NULL::bigint
END)) WHERE (
CASE
    WHEN (availability = 'READY'::text) THEN key
    ELSE NULL::bigint
END IS NOT NULL);
CREATE INDEX jobs_ready_by_group ON public.jobs USING btree (group_key, ((partition + 0)), job_type, tenant, priority DESC, (
CASE
    WHEN (availability = 'READY'::text) THEN key
    ELSE NULL::bigint
END)) WHERE ((
CASE
    WHEN (availability = 'READY'::text) THEN key
    ELSE NULL::bigint
END IS NOT NULL) AND (group_key IS NOT NULL));
CREATE INDEX jobs_stuck ON public.jobs USING btree (key) WHERE (availability = 'STUCK'::text);
CREATE INDEX jobs_timed ON public.jobs USING btree (((partition + 0)), due, key) WHERE (due IS NOT NULL);
CREATE INDEX message_correlations_by_instance ON public.message_correlations USING btree (instance);
CREATE INDEX message_correlations_by_time ON public.message_correlations USING btree (((partition + 0)), at);
CREATE INDEX message_locks_by_instance ON public.message_locks USING btree (instance);
CREATE INDEX messages_by_expiry ON public.messages USING btree (((partition + 0)), expires, ((key + 0)));
CREATE INDEX messages_by_name ON public.messages USING btree (tenant, name, correlation_key, ((partition - 0)), ((key - 0)));
CREATE UNIQUE INDEX requirements_by_version ON public.requirements USING btree (partition, tenant, id, version);
CREATE INDEX schedules_due ON public.schedules USING btree (((partition + 0)), due, ((key + 0))) WHERE (due IS NOT NULL);
CREATE INDEX signals_by_time ON public.signals USING btree (((partition + 0)), due, ((key + 0)));
CREATE INDEX subscriptions_by_end ON public.subscriptions USING btree (((partition + 0)), (
CASE
    WHEN (state <> 'CREATED'::text) THEN updated
    ELSE NULL::bigint
END)) WHERE (
CASE
    WHEN (state <> 'CREATED'::text) THEN updated
    ELSE NULL::bigint
END IS NOT NULL);
CREATE INDEX subscriptions_by_instance ON public.subscriptions USING btree (instance, ((state = 'CREATED'::text))) WHERE (instance IS NOT NULL);
CREATE INDEX subscriptions_open ON public.subscriptions USING btree (((partition + 0)), kind, tenant, (
CASE
    WHEN ((state = 'CREATED'::text) AND (kind = ANY (ARRAY['MESSAGE'::text, 'SIGNAL'::text]))) THEN name
    ELSE NULL::text
END), correlation_key, ((key + 0))) WHERE (
CASE
    WHEN ((state = 'CREATED'::text) AND (kind = ANY (ARRAY['MESSAGE'::text, 'SIGNAL'::text]))) THEN name
    ELSE NULL::text
END IS NOT NULL);
CREATE INDEX subscriptions_starting ON public.subscriptions USING btree ((
CASE
    WHEN ((instance IS NULL) AND (state = 'CREATED'::text)) THEN definition
    ELSE NULL::bigint
END)) WHERE (
CASE
    WHEN ((instance IS NULL) AND (state = 'CREATED'::text)) THEN definition
    ELSE NULL::bigint
END IS NOT NULL);
CREATE INDEX timers_by_end ON public.timers USING btree (((partition + 0)), ended) WHERE (ended IS NOT NULL);
CREATE INDEX timers_by_instance ON public.timers USING btree (instance, ((state = 'PENDING'::text))) WHERE (instance IS NOT NULL);
CREATE INDEX timers_by_time ON public.timers USING btree (((partition + 0)), (
CASE
    WHEN (state = 'PENDING'::text) THEN due
    ELSE NULL::bigint
END), ((key + 0))) WHERE (
CASE
    WHEN (state = 'PENDING'::text) THEN due
    ELSE NULL::bigint
END IS NOT NULL);
CREATE INDEX timers_starting ON public.timers USING btree ((
CASE
    WHEN ((instance IS NULL) AND (state = 'PENDING'::text)) THEN definition
    ELSE NULL::bigint
END)) WHERE (
CASE
    WHEN ((instance IS NULL) AND (state = 'PENDING'::text)) THEN definition
    ELSE NULL::bigint
END IS NOT NULL);
CREATE INDEX turns_by_instance ON public.turns USING btree (instance);
CREATE INDEX turns_by_time ON public.turns USING btree (((partition + 0)), due, ((key + 0)));
CREATE INDEX user_task_candidates_by_name ON public.user_task_candidates USING btree (name, kind, created);
CREATE INDEX user_task_candidates_open_by_name ON public.user_task_candidates USING btree ((
CASE
    WHEN open THEN name
    ELSE NULL::text
END), kind, created);
CREATE INDEX user_tasks_by_assignee ON public.user_tasks USING btree (assignee) WHERE (assignee IS NOT NULL);
CREATE INDEX user_tasks_by_creation ON public.user_tasks USING btree (created);
CREATE INDEX user_tasks_by_instance ON public.user_tasks USING btree (instance, ((ended IS NULL)));
CREATE INDEX user_tasks_open_by_assignee ON public.user_tasks USING btree ((
CASE
    WHEN (state = 'CREATED'::text) THEN assignee
    ELSE NULL::text
END));
CREATE INDEX user_tasks_open_by_creation ON public.user_tasks USING btree ((
CASE
    WHEN (state = 'CREATED'::text) THEN created
    ELSE NULL::bigint
END));
CREATE INDEX user_tasks_open_by_priority ON public.user_tasks USING btree ((
CASE
    WHEN (state = 'CREATED'::text) THEN priority
    ELSE NULL::integer
END) DESC, key);
CREATE INDEX variables_by_instance ON public.variables USING btree (instance, scope);
CREATE INDEX variables_by_value ON public.variables USING btree (name, substr(value, 1, 32));
