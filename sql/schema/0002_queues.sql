-- The two queues, the leases on their work, and messages that could not be decoded.
--
-- A claim must not walk past work that it cannot claim: hidden messages, rows that
-- somebody holds, rows that are done. So every claim has a filtered index with only the rows
-- that it may take, in the order in which to take them. Page locks are off on all of these
-- indexes, since one page lock would hide a page of work from READPAST.

-- One row per instance that has ever had a message. The row is the contract's instance lock,
-- and it stores the answer to "may this instance be fetched?". Every write that could change
-- the answer locks the row first and computes the answer again (function inbox_state). A fetch
-- does the same for instances whose wake_at has come. So the row also keeps two writers of one
-- instance apart, even on servers that ignore lock hints. The row holds no payload,
-- so a claim reads and writes short rows only.
CREATE TABLE duroxide.inboxes (
    instance_id  NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- executions.version_id of the current execution; 0 if there is none. Like code_id, it
    -- is only up to date while head_id is not NULL.
    version_id   INT              NOT NULL CONSTRAINT df_inboxes_version_id DEFAULT 0,
    -- code_names.id of the orchestration that the next turn runs; 0 if any worker may take
    -- the turn.
    code_id      INT              NOT NULL CONSTRAINT df_inboxes_code_id DEFAULT 0,
    -- The oldest visible message; NULL when the instance may not be fetched.
    head_id      BIGINT           NULL,
    -- When the answer changes without a write: when the lease ends, or when the next hidden
    -- message becomes visible. NULL for never.
    wake_at      BIGINT           NULL,
    -- The claim: its token, when its lease ends, when it was made, the last of its messages, whether it
    -- named no code, and the worker that made it. The turn has the messages up to claimed_to that were
    -- visible at claimed_at: whoever sends a message locks this row first, so a later one has a higher
    -- id. All of them stay after the lease has ended by itself, until the next claim.
    lock_token   UNIQUEIDENTIFIER NULL,
    locked_until BIGINT           NULL,
    claimed_at   BIGINT           NULL,
    claimed_to   BIGINT           NULL,
    unnamed      BIT              NOT NULL CONSTRAINT df_inboxes_unnamed DEFAULT 0,
    holder       NVARCHAR(200)    NULL,
    CONSTRAINT pk_inboxes PRIMARY KEY CLUSTERED (instance_id) WITH (ALLOW_PAGE_LOCKS = OFF)
);
GO

-- For claim_turn: the ready instances of each code, oldest message first. A claim takes a row out
-- of the index, a release puts it back. The code comes first, so that listing the codes of ready
-- instances costs one seek per code. Nearly every ready row passes a worker's range of versions.
CREATE INDEX ix_inboxes_ready ON duroxide.inboxes (code_id, head_id) INCLUDE (version_id)
WHERE head_id IS NOT NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For ready_due_inboxes: instances whose wake_at has come. The included columns are for
-- recommended_workers, give_back and get_queue_depths, which read no row beside it: a reader that
-- holds a key and waits for its row would deadlock with whoever has locked the row.
CREATE INDEX ix_inboxes_wake ON duroxide.inboxes (wake_at) INCLUDE (head_id, lock_token, claimed_at, claimed_to)
WHERE wake_at IS NOT NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- Messages for instances. A turn takes the visible messages of one instance together, so they are
-- clustered by instance, kind and the time from which they are visible: one seek for each kind,
-- without those that are hidden.
CREATE TABLE duroxide.orchestrator_queue (
    instance_id   NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- The place in the order of arrival.
    id            BIGINT           NOT NULL IDENTITY (1, 1),
    -- The kinds that the rules about fetchable instances distinguish:
    -- 0 QueueMessage, 1 ContinueAsNew, 2 StartOrchestration, 3 anything else, 4 a QueueMessage
    -- that waits without making its instance fetchable: until a turn awaits its queue, or behind
    -- an older message.
    kind          TINYINT          NOT NULL,
    -- The queue of a message of kind 0 or 4; NULL for the others. A turn gets the oldest messages
    -- of a queue, without a gap.
    queue         NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    -- code_names.id of what a message of kind 1 or 2 starts. A request to cancel has that of
    -- 'duroxide:cancel', other messages 0.
    code_id       INT              NOT NULL CONSTRAINT df_orchestrator_queue_code_id DEFAULT 0,
    -- The work item's JSON, which no T-SQL looks into (rule T4).
    work_item     NVARCHAR(MAX)    NOT NULL,
    visible_at    BIGINT           NOT NULL,
    -- How many turns with the message were given back or lost their lease. It is written when that
    -- happens, so a turn that succeeds leaves no trace here.
    attempt_count INT              NOT NULL CONSTRAINT df_orchestrator_queue_attempt_count DEFAULT 0,
    -- How many of those attempts were claims that named no code. A claim that names its code does not
    -- count them.
    unnamed_count INT              NOT NULL CONSTRAINT df_orchestrator_queue_unnamed_count DEFAULT 0,
    -- Set if a turn with this message was given back because its code did not fit the
    -- history: the reason, and the time of the first such turn. The instance is held
    -- while it has such a message. The turn that fits acknowledges the message, which deletes
    -- it.
    misfit        NVARCHAR(MAX)    NULL,
    misfit_at     BIGINT           NULL,
    created_at    BIGINT           NOT NULL,
    CONSTRAINT pk_orchestrator_queue PRIMARY KEY CLUSTERED (instance_id, kind, visible_at, id) WITH (ALLOW_PAGE_LOCKS = OFF),
    CONSTRAINT ck_orchestrator_queue_kind CHECK (kind IN (0, 1, 2, 3, 4)),
    CONSTRAINT ck_orchestrator_queue_attempts CHECK (unnamed_count >= 0 AND attempt_count >= unnamed_count)
);
GO

-- For the messages of one queue, oldest first.
CREATE INDEX ix_orchestrator_queue_queue ON duroxide.orchestrator_queue (instance_id, queue, id) INCLUDE (kind, visible_at)
WHERE queue IS NOT NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For the messages of a hold, which a fetch of their instance takes, hidden or not.
CREATE INDEX ix_orchestrator_queue_held ON duroxide.orchestrator_queue (instance_id, id) INCLUDE (visible_at)
WHERE misfit_at IS NOT NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- Activities to be executed, in the order of their arrival.
CREATE TABLE duroxide.worker_queue (
    id            BIGINT           NOT NULL IDENTITY (1, 1),
    instance_id   NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id  BIGINT           NOT NULL,
    activity_id   BIGINT           NOT NULL,
    session_id    NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    -- The empty text for an activity without a tag.
    tag           NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT df_worker_queue_tag DEFAULT N'',
    -- code_names.id of the activity's name; 0 if any worker may take it.
    code_id       INT              NOT NULL CONSTRAINT df_worker_queue_code_id DEFAULT 0,
    -- The work item's JSON, which no T-SQL looks into (rule T4).
    work_item     NVARCHAR(MAX)    NOT NULL,
    visible_at    BIGINT           NOT NULL,
    lock_token    UNIQUEIDENTIFIER NULL,
    -- The lease's end; NULL when abandoned or never fetched.
    locked_until  BIGINT           NULL,
    -- Who claimed it last, for people: the process and its host.
    holder        NVARCHAR(200)    NULL,
    attempt_count INT              NOT NULL CONSTRAINT df_worker_queue_attempt_count DEFAULT 0,
    -- As in orchestrator_queue.
    unnamed_count INT              NOT NULL CONSTRAINT df_worker_queue_unnamed_count DEFAULT 0,
    -- 1 when the activity is visible and not leased. A fetch takes the lowest id and
    -- must not walk past other rows, so the answer is stored. Each fetch first sets it
    -- on activities whose wake_at has come.
    ready         BIT              NOT NULL CONSTRAINT df_worker_queue_ready DEFAULT 1,
    -- When a row with ready = 0 becomes ready without a write: the end of its lease or
    -- delay.
    wake_at       BIGINT           NOT NULL,
    -- The details of the last heartbeat.
    heartbeat     NVARCHAR(MAX)    NULL,
    created_at    BIGINT           NOT NULL,
    CONSTRAINT pk_worker_queue PRIMARY KEY CLUSTERED (id) WITH (ALLOW_PAGE_LOCKS = OFF),
    CONSTRAINT ck_worker_queue_attempts CHECK (unnamed_count >= 0 AND attempt_count >= unnamed_count)
);
GO

-- For fetch_work_item: the ready activities of each tag and name without a session, oldest
-- first. session_id is included, although it is NULL, so that a query reads the index alone.
CREATE INDEX ix_worker_queue_ready ON duroxide.worker_queue (tag, code_id, id) INCLUDE (session_id)
WHERE ready = 1 AND session_id IS NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For fetch_work_item: the ready activities of sessions. session_id is included so that
-- activities of other workers' sessions are skipped without reading their rows.
CREATE INDEX ix_worker_queue_ready_session ON duroxide.worker_queue (tag, code_id, id) INCLUDE (session_id)
WHERE ready = 1 AND session_id IS NOT NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For ready_due_work: activities whose wake_at has come. The included column is for
-- recommended_workers, and for give_back, which looks for tokens of leases.
CREATE INDEX ix_worker_queue_wake ON duroxide.worker_queue (wake_at) INCLUDE (lock_token)
WHERE ready = 0
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For cancelling activities in ack_orchestration_item, and for deleting the activities
-- of an instance.
CREATE INDEX ix_worker_queue_activity ON duroxide.worker_queue (instance_id, execution_id, activity_id)
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For fetch_work_item, which looks at one session after the other when the oldest activities
-- all belong to other workers' sessions, and for cleanup_orphaned_sessions, which asks whether
-- a session still has activities, ready or not.
CREATE INDEX ix_worker_queue_session ON duroxide.worker_queue (ready, session_id, id) INCLUDE (tag, code_id)
WHERE session_id IS NOT NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- Which worker owns a session, and until when.
CREATE TABLE duroxide.sessions (
    session_id       NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- The owner.
    worker_id        NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    locked_until     BIGINT        NOT NULL,
    last_activity_at BIGINT        NOT NULL,
    -- How often the session was claimed. A renewal does not count.
    claims           BIGINT        NOT NULL CONSTRAINT df_sessions_claims DEFAULT 0,
    CONSTRAINT pk_sessions PRIMARY KEY CLUSTERED (session_id) WITH (ALLOW_PAGE_LOCKS = OFF)
);
GO

-- For cleanup_orphaned_sessions, which looks at expired sessions only.
CREATE INDEX ix_sessions_end ON duroxide.sessions (locked_until)
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For renew_session_lock, which looks at live sessions of some owners only.
CREATE INDEX ix_sessions_owner ON duroxide.sessions (worker_id, locked_until)
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- Messages and activities that could not be decoded, moved here for people to
-- look at.
CREATE TABLE duroxide.dead_letters (
    id          BIGINT        NOT NULL IDENTITY (1, 1),
    -- 'orchestrator' or 'worker'.
    queue       NVARCHAR(16)  COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- The row's id in that queue.
    queue_id    BIGINT        NOT NULL,
    instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    work_item   NVARCHAR(MAX) NOT NULL,
    error       NVARCHAR(MAX) NOT NULL,
    created_at  BIGINT        NOT NULL,
    CONSTRAINT pk_dead_letters PRIMARY KEY CLUSTERED (id)
);
GO

-- For list_dead_letters and delete_list, which need those of an instance.
CREATE INDEX ix_dead_letters_instance ON duroxide.dead_letters (instance_id, id);
