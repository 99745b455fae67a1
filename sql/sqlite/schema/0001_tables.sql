-- The tables of the embedded store (contract §4).
--
-- Times are milliseconds since the Unix epoch, UTC. Text is compared byte for
-- byte, which is what SQLite's BINARY collation does. There are no foreign keys:
-- a turn may write history for an instance that has no row yet, and a child must
-- survive its parent's deletion.
--
-- "Ready" is stored. Whether a message may be fetched depends on the time (a
-- delay ends, a lease ends), and a query that compared every queued row with the
-- clock would read past each future timer. So each queue has two indexes: one of
-- its fetchable work, and one of the times at which other rows may become
-- fetchable. A fetch first marks rows whose time has come as fetchable; both
-- steps are one index seek.

-- The versions of the framework to which executions are pinned: a handful. A fetch
-- asks for the oldest message within a range of versions. This table lists the
-- versions of the range, so the fetch needs one index seek for each. Versions are
-- added and never removed.
CREATE TABLE framework_versions (
    id    INTEGER PRIMARY KEY,
    major INTEGER NOT NULL,
    minor INTEGER NOT NULL,
    patch INTEGER NOT NULL,
    UNIQUE (major, minor, patch)
) STRICT;

-- The names by which work is selected: an orchestration in one version, or an
-- activity, whose version is ''. In code_id columns, 0 stands for work that any worker
-- may take. Names are added and never removed.
CREATE TABLE code_names (
    id      INTEGER PRIMARY KEY,
    name    TEXT    NOT NULL,
    version TEXT    NOT NULL,
    UNIQUE (name, version)
) STRICT;

-- The sets of code that fetches have asked for. AUTOINCREMENT, so that no id is used
-- twice: processes remember ids, and may use the id of a set that is gone.
CREATE TABLE known_code (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    -- 0 orchestrations, 1 activities.
    kind    INTEGER NOT NULL CHECK (kind IN (0, 1)),
    -- Of the names and, for activities, of the tags.
    digest  BLOB    NOT NULL,
    -- When a fetch last asked for the set. The recorded time may be 20 seconds too early.
    seen_at INTEGER NOT NULL,
    UNIQUE (kind, digest)
) STRICT;

-- For ListNamedCodes, UnknownWorkCodes, UnknownInstanceCodes, ListKnownVersions and
-- DeleteKnownCode.
CREATE INDEX known_code_by_time ON known_code (kind, seen_at);

-- The code ids in each set, including 0.
CREATE TABLE known_code_names (
    known_id INTEGER NOT NULL,
    code_id  INTEGER NOT NULL,
    PRIMARY KEY (known_id, code_id)
) STRICT, WITHOUT ROWID;

-- The tags that the fetches of each set of activities take: '*' is any tag or none, '-' is none,
-- and '+gpu' is the tag gpu. The digest of the set covers them.
CREATE TABLE known_code_tags (
    known_id INTEGER NOT NULL,
    tag      TEXT    NOT NULL,
    PRIMARY KEY (known_id, tag)
) STRICT, WITHOUT ROWID;

-- One row per orchestration instance. Only the acknowledgement of an instance's
-- first turn adds it.
CREATE TABLE instances (
    -- The order of creation. created_at alone cannot order two instances of the
    -- same millisecond.
    id                    INTEGER PRIMARY KEY,
    instance_id           TEXT    NOT NULL UNIQUE,
    orchestration_name    TEXT    NOT NULL,
    orchestration_version TEXT,
    -- Never gets smaller.
    current_execution_id  INTEGER NOT NULL,
    custom_status         TEXT,
    custom_status_version INTEGER NOT NULL DEFAULT 0,
    parent_instance_id    TEXT,
    created_at            INTEGER NOT NULL,
    -- The time of the last turn that changed the row. A turn that only adds events does
    -- not; GetInstanceInfo takes such a turn's time from its events.
    updated_at            INTEGER NOT NULL
) STRICT;

-- For ListChildren, ListTree and FindOrphan. Roots, which most rows are, are left
-- out.
CREATE INDEX instances_by_parent ON instances (parent_instance_id)
WHERE parent_instance_id IS NOT NULL;

-- Texts of 4 KiB and more. A payload travels: from a message to the history, from there to an activity, and back. Each of
-- these rows names the one row here, and so the text is written once. It also keeps the other tables short, in which
-- SQLite reads whole rows to compare their keys.
--
-- The row that names a text has the rest of its JSON, with "\u001a" in the place of the text.
CREATE TABLE payloads (
    id     INTEGER PRIMARY KEY,
    -- SHA-256 of the text.
    digest BLOB    NOT NULL UNIQUE,
    -- How many rows name it. The last that is deleted takes the text with it.
    uses   INTEGER NOT NULL
) STRICT;

-- Apart, because SQLite writes the whole row when a number in it changes.
CREATE TABLE payload_texts (
    -- payloads.id.
    id         INTEGER PRIMARY KEY,
    text       TEXT    NOT NULL,
    -- By how many bytes a JSON would be longer with the text.
    json_bytes INTEGER NOT NULL
) STRICT;

CREATE TRIGGER payloads_unused AFTER UPDATE OF uses ON payloads WHEN NEW.uses <= 0
BEGIN
    DELETE FROM payload_texts WHERE id = OLD.id;
    DELETE FROM payloads WHERE id = OLD.id;
END;

-- One row per run of an instance.
CREATE TABLE executions (
    instance_id  TEXT    NOT NULL,
    execution_id INTEGER NOT NULL,
    -- 'Running', 'Completed', 'Failed' or 'ContinuedAsNew'.
    status       TEXT    NOT NULL,
    -- Empty if the output is a text in payloads.
    output       TEXT,
    payload_id   INTEGER,
    -- framework_versions.id of the version the execution is pinned to; 0 for none.
    version_id   INTEGER NOT NULL DEFAULT 0,
    -- code_names.id of what the execution runs.
    code_id      INTEGER NOT NULL DEFAULT 0,
    started_at   INTEGER NOT NULL,
    completed_at INTEGER,
    PRIMARY KEY (instance_id, execution_id)
) STRICT, WITHOUT ROWID;

-- The events. Rows are only added, and deleted with their execution. They are
-- clustered by execution, because a history is read as a whole and in order.
CREATE TABLE history (
    instance_id  TEXT    NOT NULL,
    execution_id INTEGER NOT NULL,
    event_id     INTEGER NOT NULL,
    event_type   TEXT    NOT NULL,
    -- The event's JSON.
    event_data   TEXT    NOT NULL,
    -- payloads.id of what event_data leaves out; NULL for nothing.
    payload_id   INTEGER,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (instance_id, execution_id, event_id)
) STRICT, WITHOUT ROWID;

-- Messages for instances. AUTOINCREMENT: an id is a place in the order of
-- arrival and is never used twice.
CREATE TABLE orchestrator_queue (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    instance_id   TEXT    NOT NULL,
    -- The kinds that the rules about fetchable instances distinguish:
    -- 0 QueueMessage, 1 ContinueAsNew, 2 StartOrchestration, 3 anything else, 4 a QueueMessage
    -- that waits without making its instance fetchable: until a turn awaits its queue, or
    -- behind an older message.
    kind          INTEGER NOT NULL CHECK (kind IN (0, 1, 2, 3, 4)),
    -- The queue of a message of kind 0 or 4; NULL for the others. A turn gets the oldest messages
    -- of a queue, without a gap.
    queue         TEXT    CHECK ((queue IS NULL) = (kind IN (1, 2, 3))),
    -- code_names.id of the execution that a message of kind 1 or 2 starts. A request to cancel has
    -- that of 'duroxide:cancel', other messages 0.
    code_id       INTEGER NOT NULL DEFAULT 0,
    -- The work item's JSON.
    work_item     TEXT    NOT NULL,
    -- payloads.id of what work_item leaves out; NULL for nothing.
    payload_id    INTEGER,
    visible_at    INTEGER NOT NULL,
    -- The token of the turn that took the message. The message is locked as long
    -- as the instance's row in inboxes has this token and a live lease.
    lock_token    TEXT,
    attempt_count INTEGER NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
    -- How many of those attempts were fetches that named no code. A fetch that names
    -- its code takes them off, and counts on from the rest.
    unnamed_count INTEGER NOT NULL DEFAULT 0 CHECK (unnamed_count BETWEEN 0 AND attempt_count),
    created_at    INTEGER NOT NULL,
    -- Set if a turn with this message was given back because its code did not fit the
    -- history: the reason, and the time of the first such turn. The instance is held
    -- while it has such a message. The turn that fits acknowledges the message, which deletes
    -- it.
    misfit        TEXT,
    misfit_at     INTEGER
) STRICT;

-- For RefreshInbox, which computes an inbox (queries/inboxes.sql), and for fetches,
-- acknowledgements and deletions, which need an instance's messages.
CREATE INDEX orchestrator_queue_by_instance ON orchestrator_queue (instance_id, kind, visible_at);

-- For the messages of a hold, which a fetch of their instance takes, hidden or not.
CREATE INDEX orchestrator_queue_held ON orchestrator_queue (instance_id)
    WHERE misfit IS NOT NULL;

-- For the messages of one queue, oldest first.
CREATE INDEX orchestrator_queue_by_queue ON orchestrator_queue (instance_id, queue, id)
WHERE queue IS NOT NULL;

-- One row per instance that has messages or a lease. The row is the contract's
-- instance lock, and it stores the answer to "may this instance be fetched?".
-- Every write that could change the answer computes it again.
--
-- The rows are in the order in which they were added, so those that have waited longest, which
-- the next fetches lock, share pages.
CREATE TABLE inboxes (
    id           INTEGER PRIMARY KEY,
    instance_id  TEXT    NOT NULL UNIQUE,
    -- The token that a caller presents contains the instance id, so no index on this column
    -- is needed.
    lock_token   TEXT,
    -- The lease's end. It stays after the lease has ended, until the next fetch.
    locked_until INTEGER,
    locked_at    INTEGER,
    -- executions.version_id of the current execution; 0 if there is none.
    version_id   INTEGER NOT NULL DEFAULT 0,
    -- code_names.id of the orchestration that the instance's next turn runs.
    code_id      INTEGER NOT NULL DEFAULT 0,
    -- The oldest visible message; NULL when the instance may not be fetched.
    head_id      INTEGER,
    -- When the answer changes without a write: when the lease ends, or when the
    -- next hidden message becomes visible. NULL for never.
    wake_at      INTEGER
) STRICT;

-- For NextInstance and OldestInstances: the fetchable instances of each version and code,
-- longest wait first. A process remembers which of them to look at (provider/sqlite/heads.go).
-- With wake_at, OldestInstances reads no rows.
CREATE INDEX inboxes_ready ON inboxes (version_id, code_id, head_id, wake_at)
WHERE head_id IS NOT NULL;

-- For RefreshDueInboxes, ResetDueInboxes and NextInboxWake.
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
    -- payloads.id of what work_item leaves out; NULL for nothing.
    payload_id    INTEGER,
    visible_at    INTEGER NOT NULL,
    -- The token that a caller presents contains the id, so no index on this column is
    -- needed.
    lock_token    TEXT,
    -- The lease's end; NULL when abandoned or never fetched.
    locked_until  INTEGER,
    attempt_count INTEGER NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
    -- As in orchestrator_queue.
    unnamed_count INTEGER NOT NULL DEFAULT 0 CHECK (unnamed_count BETWEEN 0 AND attempt_count),
    -- 1 when the activity is visible and not leased. A row with 0 becomes ready at
    -- coalesce(locked_until, visible_at).
    ready         INTEGER NOT NULL DEFAULT 1 CHECK (ready IN (0, 1)),
    -- The details of the last heartbeat.
    heartbeat     TEXT,
    created_at    INTEGER NOT NULL
) STRICT;

-- For NextPlainWork and OldestPlainWork: the ready activities of a tag and code without a
-- session, oldest first.
CREATE INDEX worker_queue_ready ON worker_queue (tag, code_id, id)
WHERE ready = 1 AND session_id IS NULL;

-- For NextSessionWork: the ready activities of sessions. The session is in the
-- index so that activities of other workers' sessions are skipped without
-- reading their rows.
CREATE INDEX worker_queue_ready_session ON worker_queue (tag, code_id, id, session_id)
WHERE ready = 1 AND session_id IS NOT NULL;

-- For ReadyDueWork and NextWorkWake.
CREATE INDEX worker_queue_by_wake ON worker_queue (coalesce(locked_until, visible_at))
WHERE ready = 0;

-- For cancelling activities, and for deleting the activities of an instance.
CREATE INDEX worker_queue_by_activity ON worker_queue (instance_id, execution_id, activity_id);

-- For NextSessionWork, which may look at one session after the other, and for
-- CleanupSessions, which asks whether a session still has activities.
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

-- For NextSessionWake and RenewSessions, which look at live sessions, and CleanupSessions,
-- which looks at expired ones.
CREATE INDEX sessions_by_end ON sessions (locked_until);

-- Key-value data as of the end of the last finished execution.
CREATE TABLE kv_store (
    instance_id        TEXT    NOT NULL,
    key                TEXT    NOT NULL,
    value              TEXT    NOT NULL,
    last_updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (instance_id, key)
) STRICT, WITHOUT ROWID;

-- The changes of the running execution. A NULL value is a tombstone: the
-- execution has cleared the key.
CREATE TABLE kv_delta (
    instance_id        TEXT    NOT NULL,
    key                TEXT    NOT NULL,
    value              TEXT,
    last_updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (instance_id, key)
) STRICT, WITHOUT ROWID;

-- Messages and activities that could not be decoded, moved here for
-- people to look at.
CREATE TABLE dead_letters (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    -- 'orchestrator' or 'worker'.
    queue       TEXT    NOT NULL,
    -- The row's id in that queue.
    queue_id    INTEGER NOT NULL,
    instance_id TEXT    NOT NULL,
    work_item   TEXT    NOT NULL,
    payload_id  INTEGER,
    error       TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;

-- For ListInstanceDeadLetters and DeleteInstanceDeadLetters.
CREATE INDEX dead_letters_by_instance ON dead_letters (instance_id, id);

-- Whatever deletes a row that names a payload gives it up.
CREATE TRIGGER executions_payload AFTER DELETE ON executions WHEN OLD.payload_id IS NOT NULL
BEGIN
    UPDATE payloads SET uses = uses - 1 WHERE id = OLD.payload_id;
END;

CREATE TRIGGER history_payload AFTER DELETE ON history WHEN OLD.payload_id IS NOT NULL
BEGIN
    UPDATE payloads SET uses = uses - 1 WHERE id = OLD.payload_id;
END;

CREATE TRIGGER orchestrator_queue_payload AFTER DELETE ON orchestrator_queue WHEN OLD.payload_id IS NOT NULL
BEGIN
    UPDATE payloads SET uses = uses - 1 WHERE id = OLD.payload_id;
END;

CREATE TRIGGER worker_queue_payload AFTER DELETE ON worker_queue WHEN OLD.payload_id IS NOT NULL
BEGIN
    UPDATE payloads SET uses = uses - 1 WHERE id = OLD.payload_id;
END;

CREATE TRIGGER dead_letters_payload AFTER DELETE ON dead_letters WHEN OLD.payload_id IS NOT NULL
BEGIN
    UPDATE payloads SET uses = uses - 1 WHERE id = OLD.payload_id;
END;

-- The output of an execution may be set again.
CREATE TRIGGER executions_new_payload AFTER UPDATE OF payload_id ON executions WHEN OLD.payload_id IS NOT NULL
BEGIN
    UPDATE payloads SET uses = uses - 1 WHERE id = OLD.payload_id;
END;
