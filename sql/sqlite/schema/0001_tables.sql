-- The tables of the embedded store (contract §4).
--
-- Times are milliseconds since the Unix epoch, UTC. Text is compared byte for
-- byte, which is what SQLite's BINARY collation does. There are no foreign keys:
-- a turn may write history for an instance that has no row yet, and a child must
-- survive its parent's deletion (§4, pitfall P17).
--
-- "Ready" is stored. Whether a message may be fetched depends on the time (a
-- delay ends, a lease ends), and a query that compared every queued row with the
-- clock would read past each future timer. So each queue keeps its fetchable
-- work in an index of its own and, in a second index, the time at which a row
-- that is not fetchable will have to be looked at again. A fetch first moves what
-- has come due from the second to the first; both steps are one index seek.

-- The versions of the framework to which executions are pinned: a handful. The
-- fetch filters by a range of versions and wants the oldest message within it,
-- which is one index seek per version if the versions are enumerable. Versions are
-- added and never removed.
CREATE TABLE framework_versions (
    id    INTEGER PRIMARY KEY,
    major INTEGER NOT NULL,
    minor INTEGER NOT NULL,
    patch INTEGER NOT NULL,
    UNIQUE (major, minor, patch)
) STRICT;

-- The names by which work is selected (§5.20): an orchestration in one version, or an
-- activity, whose version is ''. Where a row has the id of its code, 0 stands for work
-- that any worker may take. Names are added and never removed.
CREATE TABLE code_names (
    id      INTEGER PRIMARY KEY,
    name    TEXT    NOT NULL,
    version TEXT    NOT NULL,
    UNIQUE (name, version)
) STRICT;

-- The sets of code that fetches have asked for. AUTOINCREMENT: processes remember the
-- ids, and may present one of a set that is gone.
CREATE TABLE known_code (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    -- 0 orchestrations, 1 activities.
    kind    INTEGER NOT NULL CHECK (kind IN (0, 1)),
    -- provider.KnownCode.Digest.
    digest  BLOB    NOT NULL,
    -- About when it was asked for last.
    seen_at INTEGER NOT NULL,
    UNIQUE (kind, digest)
) STRICT;

-- For what is unknown since a time, and for what may be forgotten.
CREATE INDEX known_code_by_time ON known_code (kind, seen_at);

-- What each set admits, 0 included. Set 0 is that of fetches without a set, and has
-- all code there is.
CREATE TABLE known_code_names (
    known_id INTEGER NOT NULL,
    code_id  INTEGER NOT NULL,
    PRIMARY KEY (known_id, code_id)
) STRICT, WITHOUT ROWID;

INSERT INTO known_code_names (known_id, code_id)
VALUES (0, 0);

-- One row per orchestration instance, created by the acknowledgement of its
-- first turn and by nothing else.
CREATE TABLE instances (
    -- Order of creation: created_at alone does not separate two instances of the
    -- same millisecond.
    id                    INTEGER PRIMARY KEY,
    instance_id           TEXT    NOT NULL UNIQUE,
    orchestration_name    TEXT    NOT NULL,
    orchestration_version TEXT,
    -- Only ever grows.
    current_execution_id  INTEGER NOT NULL,
    custom_status         TEXT,
    custom_status_version INTEGER NOT NULL DEFAULT 0,
    parent_instance_id    TEXT,
    created_at            INTEGER NOT NULL,
    -- Of the last turn that changed the row; the events of others say when they were.
    updated_at            INTEGER NOT NULL
) STRICT;

-- For ListChildren, InstanceTree and the check for orphaned children. Roots, the
-- bulk of the table, are left out.
CREATE INDEX instances_by_parent ON instances (parent_instance_id)
WHERE parent_instance_id IS NOT NULL;

-- One row per run of an instance.
CREATE TABLE executions (
    instance_id  TEXT    NOT NULL,
    execution_id INTEGER NOT NULL,
    -- 'Running', 'Completed', 'Failed' or 'ContinuedAsNew'.
    status       TEXT    NOT NULL,
    output       TEXT,
    -- framework_versions.id of the version the execution is pinned to; 0 for none.
    version_id   INTEGER NOT NULL DEFAULT 0,
    -- code_names.id of what the execution runs.
    code_id      INTEGER NOT NULL DEFAULT 0,
    started_at   INTEGER NOT NULL,
    completed_at INTEGER,
    PRIMARY KEY (instance_id, execution_id)
) STRICT, WITHOUT ROWID;

-- The events. Append-only; clustered by execution, because they are read as a
-- whole and in order.
CREATE TABLE history (
    instance_id  TEXT    NOT NULL,
    execution_id INTEGER NOT NULL,
    event_id     INTEGER NOT NULL,
    event_type   TEXT    NOT NULL,
    -- The event's JSON.
    event_data   TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (instance_id, execution_id, event_id)
) STRICT, WITHOUT ROWID;

-- Messages for instances. AUTOINCREMENT: an id is a place in the order of
-- arrival and is not given twice.
CREATE TABLE orchestrator_queue (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    instance_id   TEXT    NOT NULL,
    -- What the rules about instances without a row distinguish (§5.1):
    -- 0 QueueMessage, 1 ContinueAsNew, 2 StartOrchestration, 3 anything else.
    kind          INTEGER NOT NULL CHECK (kind IN (0, 1, 2, 3)),
    -- code_names.id of the execution that a message of kind 1 or 2 starts.
    code_id       INTEGER NOT NULL DEFAULT 0,
    -- The work item's JSON.
    work_item     TEXT    NOT NULL,
    visible_at    INTEGER NOT NULL,
    -- The turn that took the message. It is locked as long as inboxes says that
    -- this token is.
    lock_token    TEXT,
    attempt_count INTEGER NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
    created_at    INTEGER NOT NULL,
    -- Why the turn that had the message was given back, if its code did not fit the history
    -- (§5.26), and since when. The instance is held for as long as there is such a message: the
    -- acknowledgement that goes on deletes it.
    misfit        TEXT,
    misfit_at     INTEGER
) STRICT;

-- For everything an inbox is computed from (queries/inboxes.sql), and to find an
-- instance's messages for a fetch, an acknowledgement or a deletion.
CREATE INDEX orchestrator_queue_by_instance ON orchestrator_queue (instance_id, kind, visible_at);

-- One row per instance that has messages or a lease: the contract's instance
-- lock, and beside it the stored answer to "may this instance be fetched?", which
-- every write that could change the answer computes anew.
CREATE TABLE inboxes (
    instance_id  TEXT    NOT NULL PRIMARY KEY,
    -- The caller's token has the instance as well, so that no index is needed to find it.
    lock_token   TEXT,
    -- The lease's end. Kept after it has passed, until the next fetch.
    locked_until INTEGER,
    locked_at    INTEGER,
    -- executions.version_id of the current execution; 0 if there is none.
    version_id   INTEGER NOT NULL DEFAULT 0,
    -- code_names.id of what the instance's next turn runs.
    code_id      INTEGER NOT NULL DEFAULT 0,
    -- The oldest visible message, NULL when the instance may not be fetched.
    head_id      INTEGER,
    -- When the answer has to be computed anew although nobody wrote: the end of
    -- the lease, or the next message becoming visible. NULL for never.
    wake_at      INTEGER
) STRICT, WITHOUT ROWID;

-- For NextInstance and OldestInstances: per version and code, the fetchable instance that
-- waits longest. A process remembers which of them are worth a seek (provider/sqlite/heads.go).
CREATE INDEX inboxes_ready ON inboxes (version_id, code_id, head_id)
WHERE head_id IS NOT NULL;

-- For ResetDueInboxes and NextInboxWake.
CREATE INDEX inboxes_by_wake ON inboxes (wake_at)
WHERE wake_at IS NOT NULL;

-- Activities to be executed.
CREATE TABLE worker_queue (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    instance_id   TEXT    NOT NULL,
    execution_id  INTEGER NOT NULL,
    activity_id   INTEGER NOT NULL,
    session_id    TEXT,
    tag           TEXT,
    -- code_names.id of the activity's name.
    code_id       INTEGER NOT NULL DEFAULT 0,
    -- The work item's JSON.
    work_item     TEXT    NOT NULL,
    visible_at    INTEGER NOT NULL,
    -- The caller's token has the id as well, so that no index is needed to find it.
    lock_token    TEXT,
    -- The lease's end; NULL when abandoned or never fetched.
    locked_until  INTEGER,
    attempt_count INTEGER NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
    -- 1 when visible and not leased; 0 until coalesce(locked_until, visible_at).
    ready         INTEGER NOT NULL DEFAULT 1 CHECK (ready IN (0, 1)),
    -- The details of the last heartbeat.
    heartbeat     TEXT,
    created_at    INTEGER NOT NULL
) STRICT;

-- For NextPlainWork and OldestPlainWork: the oldest ready activity of a tag and code.
CREATE INDEX worker_queue_ready ON worker_queue (tag, code_id, id)
WHERE ready = 1 AND session_id IS NULL;

-- For NextSessionWork: the same among activities of sessions. The session is in
-- the index so that activities of other workers' sessions are passed over
-- without reading their rows.
CREATE INDEX worker_queue_ready_session ON worker_queue (tag, code_id, id, session_id)
WHERE ready = 1 AND session_id IS NOT NULL;

-- For ReadyDueWork and NextWorkWake.
CREATE INDEX worker_queue_by_wake ON worker_queue (coalesce(locked_until, visible_at))
WHERE ready = 0;

-- For cancelling activities, and for deleting an instance's.
CREATE INDEX worker_queue_by_activity ON worker_queue (instance_id, execution_id, activity_id);

-- For NextSessionWork, session by session, and for CleanupSessions: does a session
-- still have activities?
CREATE INDEX worker_queue_by_session ON worker_queue (session_id, ready, tag, code_id, id)
WHERE session_id IS NOT NULL;

-- Which worker owns a session.
CREATE TABLE sessions (
    session_id       TEXT    NOT NULL PRIMARY KEY,
    -- The owner.
    worker_id        TEXT    NOT NULL,
    locked_until     INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- For NextSessionWake, and for the housekeeping that looks at live or at expired
-- sessions only.
CREATE INDEX sessions_by_end ON sessions (locked_until);

-- Key-value data as of the end of the last finished execution.
CREATE TABLE kv_store (
    instance_id        TEXT    NOT NULL,
    key                TEXT    NOT NULL,
    value              TEXT    NOT NULL,
    last_updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (instance_id, key)
) STRICT, WITHOUT ROWID;

-- What the running execution has changed. A NULL value is a tombstone: the key
-- was cleared.
CREATE TABLE kv_delta (
    instance_id        TEXT    NOT NULL,
    key                TEXT    NOT NULL,
    value              TEXT,
    last_updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (instance_id, key)
) STRICT, WITHOUT ROWID;

-- Messages that could not be decoded, moved here from the queue named (§5.1,
-- §5.10), for somebody to look at.
CREATE TABLE dead_letters (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    -- 'orchestrator' or 'worker'.
    queue       TEXT    NOT NULL,
    -- The row's id in that queue.
    queue_id    INTEGER NOT NULL,
    instance_id TEXT    NOT NULL,
    work_item   TEXT    NOT NULL,
    error       TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
