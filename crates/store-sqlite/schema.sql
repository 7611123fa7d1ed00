CREATE TABLE answers (
    partition INTEGER NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    answer BLOB NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (partition, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX answers_by_expiry ON answers (partition, expires);

CREATE TABLE audit (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT,
    operation TEXT NOT NULL,
    entity TEXT NOT NULL,
    entity_key TEXT NOT NULL,
    tenant TEXT NOT NULL,
    definition INTEGER,
    instance INTEGER,
    element_instance INTEGER,
    job INTEGER,
    job_type TEXT,
    worker TEXT,
    dispatched INTEGER,
    user_task INTEGER,
    deployment INTEGER,
    resource INTEGER,
    form INTEGER,
    requirements INTEGER,
    decision INTEGER,
    decision_id TEXT,
    batch INTEGER,
    description TEXT
) STRICT;

CREATE INDEX audit_by_instance ON audit (instance) WHERE instance IS NOT NULL;

CREATE INDEX audit_by_job ON audit (job) WHERE job IS NOT NULL;

CREATE INDEX audit_by_time ON audit (at, key);

CREATE INDEX audit_by_user_task ON audit (user_task) WHERE user_task IS NOT NULL;

CREATE TABLE batch_items (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    batch INTEGER NOT NULL,
    item INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    instance INTEGER,
    root INTEGER,
    state TEXT NOT NULL,
    processed INTEGER,
    error TEXT
) STRICT;

CREATE INDEX batch_items_by_batch ON batch_items (batch, key);

CREATE INDEX batch_items_by_instance ON batch_items (instance) WHERE instance IS NOT NULL;

CREATE INDEX batch_items_open ON batch_items (batch, key) WHERE state = 'ACTIVE';

CREATE TABLE batch_operations (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    actor TEXT NOT NULL,
    started INTEGER,
    ended INTEGER,
    due INTEGER,
    total INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    after INTEGER,
    asked BLOB NOT NULL,
    error TEXT
) STRICT;

CREATE INDEX batch_operations_by_end ON batch_operations (partition, ended, key) WHERE ended IS NOT NULL;

CREATE INDEX batch_operations_by_time ON batch_operations (partition, due, key) WHERE due IS NOT NULL;

CREATE TABLE compensations (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    activity INTEGER NOT NULL
) STRICT;

CREATE INDEX compensations_by_instance ON compensations (partition, instance);

CREATE TABLE "decisions" (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    requirements INTEGER NOT NULL,
    place INTEGER NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    version_tag TEXT,
    tenant TEXT NOT NULL,
    deleted INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX decisions_by_requirements ON decisions (partition, requirements, place);

CREATE UNIQUE INDEX decisions_by_version ON decisions (partition, id, tenant, version);

CREATE TABLE definition_elements (
    partition INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    element INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT,
    kind TEXT NOT NULL,
    headers TEXT NOT NULL,
    PRIMARY KEY (partition, definition, element)
) STRICT, WITHOUT ROWID;

CREATE TABLE "definitions" (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    process_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT,
    version_tag TEXT,
    tenant TEXT NOT NULL,
    resource INTEGER NOT NULL,
    resource_name TEXT NOT NULL,
    deployment INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    deleted INTEGER NOT NULL
, flows BLOB, start_form TEXT, start_form_binding TEXT) STRICT;

CREATE UNIQUE INDEX definitions_by_version ON definitions (partition, process_id, tenant, version);

CREATE TABLE dispatch_outbox (
    partition        INTEGER NOT NULL,
    key              INTEGER NOT NULL,
    job              INTEGER NOT NULL,
    instance         INTEGER NOT NULL,
    element_instance INTEGER NOT NULL,
    job_type         TEXT NOT NULL,
    tenant           TEXT NOT NULL,
    retries          INTEGER NOT NULL,
    created          INTEGER NOT NULL,
    payload          TEXT NOT NULL, lease INTEGER NOT NULL DEFAULT 0, element_id TEXT NOT NULL DEFAULT '', progress TEXT, trace TEXT,
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE document_links (
    token TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX document_links_by_document ON document_links (tenant, id);

CREATE INDEX document_links_by_expiry ON document_links (expires);

CREATE TABLE document_parts (
    upload TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (upload, number)
) STRICT;

CREATE INDEX document_parts_by_time ON document_parts (at);

CREATE TABLE documents (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    upload TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    hash TEXT NOT NULL,
    file_name TEXT NOT NULL,
    content_type TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER,
    process_id TEXT,
    instance INTEGER,
    properties TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX documents_by_expiry ON documents (expires) WHERE expires IS NOT NULL;

CREATE TABLE "elements" (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    element INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state = 'ACTIVE' OR state = 'COMPLETED' OR state = 'TERMINATED'),
    phase INTEGER NOT NULL,
    started INTEGER NOT NULL,
    ended INTEGER,
    incident INTEGER
, progress TEXT, stuck INTEGER, late INTEGER GENERATED ALWAYS AS (CASE WHEN ended - started BETWEEN 0 AND 250 THEN NULL ELSE ended END) VIRTUAL) STRICT;

CREATE INDEX elements_by_element ON elements (definition, element);

CREATE INDEX elements_by_instance ON elements (partition, instance);

CREATE INDEX elements_late ON elements (late) WHERE late IS NOT NULL;

CREATE INDEX elements_live ON elements (partition, instance, key, definition, element) WHERE state = 'ACTIVE';

CREATE INDEX elements_stuck ON elements (key) WHERE stuck IS NOT NULL;

CREATE TABLE "evaluated_decisions" (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    evaluation INTEGER NOT NULL,
    place INTEGER NOT NULL,
    decision INTEGER,
    decision_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER,
    kind TEXT NOT NULL,
    requirements INTEGER NOT NULL,
    root_decision INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    evaluated INTEGER NOT NULL,
    output TEXT NOT NULL,
    details BLOB NOT NULL,
    instance INTEGER,
    definition INTEGER,
    element_instance INTEGER,
    CHECK (key = evaluation + place - 1)
) STRICT;

CREATE INDEX evaluated_decisions_alone ON evaluated_decisions (partition, evaluated) WHERE instance IS NULL;

CREATE INDEX evaluated_decisions_by_decision ON evaluated_decisions (decision);

CREATE INDEX evaluated_decisions_by_evaluation ON evaluated_decisions (partition, evaluation);

CREATE INDEX evaluated_decisions_by_instance ON evaluated_decisions (partition, instance) WHERE instance IS NOT NULL;

CREATE TABLE export_places (
    partition INTEGER NOT NULL,
    name      TEXT NOT NULL,
    position  INTEGER NOT NULL,
    PRIMARY KEY (partition, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE forms (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    version_tag TEXT,
    tenant TEXT NOT NULL,
    resource INTEGER NOT NULL,
    resource_name TEXT NOT NULL,
    deployment INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    deleted INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX forms_by_version ON forms (partition, id, tenant, version);

CREATE TABLE global_listeners (
    partition INTEGER NOT NULL,
    version INTEGER NOT NULL,
    listeners BLOB NOT NULL,
    changed INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    PRIMARY KEY (partition, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotent (
    partition INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint INTEGER NOT NULL,
    position INTEGER NOT NULL,
    answer BLOB NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (partition, tenant, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotent_by_expiry ON idempotent (partition, expires);

CREATE TABLE identity (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL,
    opened INTEGER NOT NULL,
    is_closed INTEGER NOT NULL CHECK (is_closed = 0 OR is_closed = 1)
) STRICT;

CREATE TABLE inbox (
    partition INTEGER NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires INTEGER,
    request BLOB NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (partition, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE "incidents" (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    element INTEGER NOT NULL,
    element_instance INTEGER NOT NULL,
    job INTEGER,
    kind TEXT NOT NULL,
    message TEXT NOT NULL,
    message_hash INTEGER NOT NULL,
    created INTEGER NOT NULL,
    resolved INTEGER
) STRICT;

CREATE INDEX incidents_active ON incidents (partition, instance) WHERE resolved IS NULL;

CREATE INDEX incidents_by_definition ON incidents (definition);

CREATE INDEX incidents_by_instance ON incidents (partition, instance);

CREATE INDEX incidents_by_message ON incidents (message_hash);

CREATE TABLE instance_tags (
    partition INTEGER NOT NULL,
    tag TEXT NOT NULL,
    instance INTEGER NOT NULL,
    PRIMARY KEY (partition, tag, instance)
) STRICT, WITHOUT ROWID;

CREATE INDEX instance_tags_by_instance ON instance_tags (instance);

CREATE TABLE "instances" (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    definition INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state = 'ACTIVE' OR state = 'COMPLETED' OR state = 'TERMINATED'),
    phase INTEGER NOT NULL,
    started INTEGER NOT NULL,
    ended INTEGER,
    parent_instance INTEGER,
    parent_element INTEGER,
    root INTEGER NOT NULL,
    tags TEXT NOT NULL,
    business_id TEXT,
    incidents INTEGER NOT NULL
, depth INTEGER NOT NULL DEFAULT 0, stuck INTEGER, suspended INTEGER) STRICT;

CREATE INDEX instances_by_business_id ON instances (business_id) WHERE business_id IS NOT NULL;

CREATE INDEX instances_by_definition ON instances (definition);

CREATE INDEX instances_by_end ON instances (ended);

CREATE INDEX instances_by_parent ON instances (parent_instance) WHERE parent_instance IS NOT NULL;

CREATE INDEX instances_called ON instances (root, key) WHERE parent_instance IS NOT NULL;

CREATE INDEX instances_running ON instances (definition) WHERE state = 'ACTIVE';

CREATE INDEX instances_stuck ON instances (key) WHERE stuck IS NOT NULL;

CREATE INDEX instances_suspended ON instances (key) WHERE suspended IS NOT NULL;

CREATE INDEX instances_terminated ON instances (key) WHERE state = 'TERMINATED';

CREATE TABLE "jobs" (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER,
    definition INTEGER,
    element INTEGER,
    element_instance INTEGER,
    job_type TEXT NOT NULL,
    tenant TEXT NOT NULL,
    priority INTEGER NOT NULL,
    state TEXT NOT NULL,
    availability TEXT NOT NULL CHECK (availability = 'READY' OR availability = 'LEASED' OR availability = 'BACKING_OFF'
        OR availability = 'STUCK' OR availability = 'DONE'),
    due INTEGER,
    retries INTEGER NOT NULL,
    worker TEXT NOT NULL,
    deadline INTEGER,
    error_code TEXT NOT NULL,
    error_message TEXT NOT NULL,
    failed_with_retries_left INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    ended INTEGER
, headers TEXT, kind TEXT, denied TEXT, group_key TEXT, input TEXT, result TEXT, attempts INTEGER, started INTEGER, unique_key TEXT, unique_until INTEGER, dispatched INTEGER, leases INTEGER, progress TEXT, late INTEGER
    GENERATED ALWAYS AS (CASE WHEN instance IS NULL OR ended - created BETWEEN 0 AND 250 THEN NULL ELSE ended END) VIRTUAL) STRICT;

CREATE INDEX jobs_by_instance ON jobs (partition, instance);

CREATE INDEX jobs_by_state ON jobs (state) WHERE state <> 'COMPLETED' AND instance IS NOT NULL;

CREATE INDEX jobs_by_type ON jobs (job_type);

CREATE INDEX jobs_by_unique_key ON jobs (partition, tenant, job_type, unique_key, key) WHERE unique_key IS NOT NULL;

CREATE INDEX jobs_late ON jobs (late) WHERE late IS NOT NULL;

CREATE INDEX jobs_open ON jobs (partition, instance) WHERE availability <> 'DONE';

CREATE INDEX jobs_over ON jobs (partition, ended) WHERE instance IS NULL AND ended IS NOT NULL;

CREATE INDEX jobs_ready ON jobs (partition, job_type, tenant, priority DESC, key) WHERE availability = 'READY';

CREATE INDEX jobs_ready_by_group ON jobs (partition, job_type, tenant, group_key, priority DESC, key)
    WHERE availability = 'READY' AND group_key IS NOT NULL;

CREATE INDEX jobs_stuck ON jobs (partition, key) WHERE availability = 'STUCK';

CREATE INDEX jobs_timed ON jobs (partition, due, key) WHERE due IS NOT NULL;

CREATE TABLE "log" (
    place INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    instance INTEGER,
    events BLOB NOT NULL
) STRICT;

CREATE TABLE message_correlations (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    message INTEGER NOT NULL,
    subscription INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    correlation_key TEXT NOT NULL,
    definition INTEGER NOT NULL,
    process_id TEXT NOT NULL,
    instance INTEGER NOT NULL,
    root INTEGER NOT NULL,
    element INTEGER NOT NULL,
    element_instance INTEGER,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX message_correlations_by_instance ON message_correlations (partition, instance);

CREATE INDEX message_correlations_by_time ON message_correlations (partition, at);

CREATE TABLE message_locks (
    partition INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    process_id TEXT NOT NULL,
    correlation_key TEXT NOT NULL,
    instance INTEGER NOT NULL,
    PRIMARY KEY (partition, tenant, process_id, correlation_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX message_locks_by_instance ON message_locks (partition, instance);

CREATE TABLE messages (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    correlation_key TEXT NOT NULL,
    message_id TEXT NOT NULL,
    variables BLOB NOT NULL,
    published INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    taken_by TEXT NOT NULL
) STRICT;

CREATE INDEX messages_by_expiry ON messages (partition, expires, key);

CREATE INDEX messages_by_name ON messages (partition, tenant, name, correlation_key, key);

CREATE TABLE paces (
    partition INTEGER NOT NULL,
    job_type TEXT NOT NULL,
    tenant TEXT NOT NULL,
    bucket TEXT NOT NULL,
    starts BLOB NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (partition, job_type, tenant, bucket)
) STRICT, WITHOUT ROWID;

CREATE TABLE "partitions" (
    partition INTEGER NOT NULL PRIMARY KEY,
    epoch INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER NOT NULL,
    position INTEGER NOT NULL,
    next_key INTEGER NOT NULL,
    inbox_to INTEGER NOT NULL,
    inbox_tail INTEGER NOT NULL,
    inbox_total INTEGER NOT NULL, started_latest INTEGER NOT NULL DEFAULT 0, started_back INTEGER NOT NULL DEFAULT 0,
    CHECK (inbox_to <= inbox_tail)
) STRICT;

CREATE TABLE policies (
    partition INTEGER NOT NULL,
    reference TEXT NOT NULL,
    version INTEGER NOT NULL,
    policy BLOB NOT NULL,
    changed INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    PRIMARY KEY (partition, reference, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE queue_stats (
    partition INTEGER NOT NULL,
    job_type TEXT NOT NULL,
    tenant TEXT NOT NULL,
    waiting INTEGER NOT NULL,
    running INTEGER NOT NULL,
    enqueued INTEGER NOT NULL,
    started INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    timed_out INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    wait_p50 INTEGER,
    wait_p95 INTEGER,
    wait_p99 INTEGER,
    run_p50 INTEGER,
    run_p95 INTEGER,
    run_p99 INTEGER,
    progressed INTEGER NOT NULL,
    stuck_since INTEGER,
    updated INTEGER NOT NULL,
    stats BLOB NOT NULL,
    PRIMARY KEY (partition, job_type, tenant)
) STRICT, WITHOUT ROWID;

CREATE TABLE "requirements" (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    tenant TEXT NOT NULL,
    resource INTEGER NOT NULL,
    resource_name TEXT NOT NULL,
    deployment INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    deleted INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX requirements_by_version ON requirements (partition, id, tenant, version);

CREATE TABLE resources (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
    name TEXT NOT NULL,
    content BLOB NOT NULL,
    tenant TEXT NOT NULL,
    PRIMARY KEY (partition, key)
) STRICT;

CREATE TABLE schedules (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    reference TEXT NOT NULL,
    action TEXT NOT NULL,
    cron TEXT NOT NULL,
    due INTEGER,
    schedule BLOB NOT NULL,
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX schedules_due ON schedules (partition, due, key) WHERE due IS NOT NULL;

CREATE TABLE signals (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    variables BLOB NOT NULL,
    after INTEGER NOT NULL,
    due INTEGER NOT NULL
) STRICT;

CREATE INDEX signals_by_time ON signals (partition, due, key);

CREATE TABLE sqlite_stat1(tbl,idx,stat);

CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample);

CREATE TABLE subscriptions (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    correlation_key TEXT NOT NULL,
    child INTEGER,
    tenant TEXT NOT NULL,
    definition INTEGER NOT NULL,
    process_id TEXT NOT NULL,
    element INTEGER NOT NULL,
    catches INTEGER NOT NULL,
    instance INTEGER,
    element_instance INTEGER,
    state TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL
) STRICT;

CREATE INDEX subscriptions_by_end ON subscriptions (partition, updated) WHERE state <> 'CREATED';

CREATE INDEX subscriptions_by_instance ON subscriptions (partition, instance) WHERE instance IS NOT NULL;

CREATE INDEX subscriptions_open ON subscriptions (partition, instance) WHERE state = 'CREATED' AND instance IS NOT NULL;

CREATE INDEX subscriptions_starting ON subscriptions (definition) WHERE state = 'CREATED' AND instance IS NULL;

CREATE INDEX subscriptions_to_messages ON subscriptions (partition, tenant, name, correlation_key, key)
    WHERE state = 'CREATED' AND kind = 'MESSAGE';

CREATE INDEX subscriptions_to_signals ON subscriptions (partition, tenant, name, key) WHERE state = 'CREATED' AND kind = 'SIGNAL';

CREATE TABLE timers (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    wait INTEGER NOT NULL,
    instance INTEGER,
    element_instance INTEGER,
    definition INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    element INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    armed INTEGER NOT NULL,
    number INTEGER NOT NULL,
    due INTEGER NOT NULL,
    state TEXT NOT NULL,
    created INTEGER NOT NULL,
    ended INTEGER
) STRICT;

CREATE INDEX timers_by_end ON timers (partition, ended) WHERE ended IS NOT NULL;

CREATE INDEX timers_by_instance ON timers (partition, instance) WHERE instance IS NOT NULL;

CREATE INDEX timers_by_time ON timers (partition, due, key) WHERE state = 'PENDING';

CREATE INDEX timers_pending ON timers (partition, instance) WHERE state = 'PENDING' AND instance IS NOT NULL;

CREATE INDEX timers_starting ON timers (definition) WHERE state = 'PENDING' AND instance IS NULL;

CREATE TABLE tokens (
    partition INTEGER NOT NULL,
    instance INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    gateway INTEGER NOT NULL,
    flow INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (partition, instance, scope, gateway, flow)
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER NOT NULL,
    due INTEGER NOT NULL,
    step BLOB NOT NULL
) STRICT;

CREATE INDEX turns_by_instance ON turns (partition, instance);

CREATE INDEX turns_by_time ON turns (partition, due, key);

CREATE TABLE "user_task_candidates" (
    partition INTEGER NOT NULL,
    task      INTEGER NOT NULL,
    kind      TEXT NOT NULL,
    name      TEXT NOT NULL,
    open      INTEGER NOT NULL,
    tenant    TEXT NOT NULL,
    created   INTEGER NOT NULL,
    PRIMARY KEY (partition, task, kind, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX user_task_candidates_by_creation ON user_task_candidates (kind, name, open, created, task, tenant);

CREATE INDEX user_task_candidates_by_name ON user_task_candidates (kind, name, open, task, tenant);

CREATE TABLE user_tasks (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    element INTEGER NOT NULL,
    element_instance INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    state TEXT NOT NULL,
    assignee TEXT,
    candidate_groups TEXT NOT NULL,
    candidate_users TEXT NOT NULL,
    due INTEGER,
    follow_up INTEGER,
    priority INTEGER NOT NULL,
    form INTEGER,
    external_form TEXT,
    created INTEGER NOT NULL,
    ended INTEGER
, transition BLOB) STRICT;

CREATE INDEX user_tasks_by_assignee ON user_tasks (assignee, state, key) WHERE assignee IS NOT NULL;

CREATE INDEX user_tasks_by_instance ON user_tasks (partition, instance);

CREATE INDEX user_tasks_open ON user_tasks (key) WHERE state = 'CREATED';

CREATE INDEX user_tasks_open_by_creation ON user_tasks (created) WHERE state = 'CREATED';

CREATE INDEX user_tasks_waiting ON user_tasks (partition, instance) WHERE ended IS NULL;

CREATE TABLE "variables" (
    partition INTEGER NOT NULL,
    key INTEGER NOT NULL PRIMARY KEY,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL
) STRICT;

CREATE INDEX variables_by_instance ON variables (partition, instance, scope);

CREATE INDEX variables_by_local_scope ON variables (partition, scope) WHERE scope <> instance;

CREATE INDEX variables_by_value ON variables (name, substr(value, 1, 32), instance);
