-- The two queues, the leases on their work, and what could not be read from them.
--
-- Claims must not walk past work that cannot be claimed (rule Q8): messages of the
-- future, rows somebody holds, rows that are done. So every claim has a filtered
-- index that holds nothing but what it may take, in the order in which to take it.
-- Page locks are off on all of them, since one hides a page of work from READPAST (rule
-- Q5).

-- One row per instance that has ever had a message: the contract's instance lock,
-- and beside it the stored answer to "may this instance be fetched?". Every write that
-- could change the answer locks the row first and computes it anew (function
-- inbox_state); a fetch does so for those whose time has come. The row is therefore
-- also what keeps two writers of one instance apart, on servers too that ignore lock
-- hints (rule Q3). It holds no payload, so a claim reads and writes short rows only.
CREATE TABLE duroxide.inboxes (
    instance_id  NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- executions.version_id of the current execution; 0 if there is none. It counts while
    -- there is a head, and so does the next.
    version_id   INT              NOT NULL CONSTRAINT df_inboxes_version_id DEFAULT 0,
    -- code_names.id of what the next turn runs; 0 if any worker may take it. Like the
    -- head it is part of the stored answer.
    code_id      INT              NOT NULL CONSTRAINT df_inboxes_code_id DEFAULT 0,
    -- The oldest visible message, NULL when the instance may not be fetched.
    head_id      BIGINT           NULL,
    -- When the answer has to be computed anew although nobody wrote: the end of the
    -- lease, or the next message becoming visible. NULL for never.
    wake_at      BIGINT           NULL,
    -- The turn that holds the instance, and until when. Both stay after the lease has
    -- ended, until the next fetch.
    lock_token   UNIQUEIDENTIFIER NULL,
    locked_until BIGINT           NULL,
    CONSTRAINT pk_inboxes PRIMARY KEY CLUSTERED (instance_id) WITH (ALLOW_PAGE_LOCKS = OFF)
);
GO

-- For fetch_orchestration_item: per code and version of the framework, the fetchable
-- instance with the oldest message. A claim takes the row out of it, a release puts it
-- back. The code comes first, so that the codes which wait can be listed by a seek each.
CREATE INDEX ix_inboxes_ready ON duroxide.inboxes (code_id, version_id, head_id)
WHERE head_id IS NOT NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For ready_due_inboxes: what has come due. What it includes is for recommended_workers.
CREATE INDEX ix_inboxes_wake ON duroxide.inboxes (wake_at) INCLUDE (head_id, lock_token)
WHERE wake_at IS NOT NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For the guard of acknowledge, abandon and renew. What it includes is for
-- recommended_workers, and changes when the token does.
CREATE UNIQUE INDEX uq_inboxes_token ON duroxide.inboxes (lock_token) INCLUDE (head_id)
WHERE lock_token IS NOT NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- Messages for instances, clustered by instance, because the messages of one are
-- taken together and in the order of their arrival.
CREATE TABLE duroxide.orchestrator_queue (
    instance_id   NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- The place in the order of arrival.
    id            BIGINT           NOT NULL IDENTITY (1, 1),
    -- What the rules about instances without a row distinguish (§5.1):
    -- 0 QueueMessage, 1 ContinueAsNew, 2 StartOrchestration, 3 anything else.
    kind          TINYINT          NOT NULL,
    -- code_names.id of what a message of kind 1 or 2 starts; 0 for the others.
    code_id       INT              NOT NULL CONSTRAINT df_orchestrator_queue_code_id DEFAULT 0,
    -- The work item's JSON, which no T-SQL looks into (rule T4).
    work_item     NVARCHAR(MAX)    NOT NULL,
    visible_at    BIGINT           NOT NULL,
    -- The turn that took the message. It is locked as long as inboxes says that this
    -- token is.
    lock_token    UNIQUEIDENTIFIER NULL,
    attempt_count INT              NOT NULL CONSTRAINT df_orchestrator_queue_attempt_count DEFAULT 0,
    -- Why the turn that had the message was given back, if its code did not fit the history
    -- (§5.26), and since when. The instance is held for as long as there is such a message: the
    -- acknowledgement that goes on deletes it.
    misfit        NVARCHAR(MAX)    NULL,
    misfit_at     BIGINT           NULL,
    created_at    BIGINT           NOT NULL,
    CONSTRAINT pk_orchestrator_queue PRIMARY KEY CLUSTERED (instance_id, id) WITH (ALLOW_PAGE_LOCKS = OFF),
    CONSTRAINT ck_orchestrator_queue_kind CHECK (kind IN (0, 1, 2, 3)),
    CONSTRAINT ck_orchestrator_queue_attempts CHECK (attempt_count >= 0)
);
GO

-- For inbox_state: the first and the last of each kind, and what is visible of it.
CREATE INDEX ix_orchestrator_queue_kind ON duroxide.orchestrator_queue (instance_id, kind, visible_at, id) INCLUDE (code_id)
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For the messages of a turn, without those that are hidden or have come since.
CREATE INDEX ix_orchestrator_queue_token ON duroxide.orchestrator_queue (lock_token)
WHERE lock_token IS NOT NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- Activities to be executed, in the order of their arrival.
CREATE TABLE duroxide.worker_queue (
    id            BIGINT           NOT NULL IDENTITY (1, 1),
    instance_id   NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id  BIGINT           NOT NULL,
    activity_id   BIGINT           NOT NULL,
    session_id    NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    tag           NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    -- code_names.id of the activity's name; 0 if any worker may take it.
    code_id       INT              NOT NULL CONSTRAINT df_worker_queue_code_id DEFAULT 0,
    -- The work item's JSON, which no T-SQL looks into (rule T4).
    work_item     NVARCHAR(MAX)    NOT NULL,
    visible_at    BIGINT           NOT NULL,
    lock_token    UNIQUEIDENTIFIER NULL,
    -- The lease's end; NULL when abandoned or never fetched.
    locked_until  BIGINT           NULL,
    attempt_count INT              NOT NULL CONSTRAINT df_worker_queue_attempt_count DEFAULT 0,
    -- 1 when visible and not leased. "Take the lowest id" (§5.10) must not walk past
    -- what is neither, so the answer is stored: a fetch first sets it on what has
    -- come due.
    ready         BIT              NOT NULL CONSTRAINT df_worker_queue_ready DEFAULT 1,
    -- When a row that is not ready becomes so by itself: the end of its lease or of
    -- its delay.
    wake_at       BIGINT           NOT NULL,
    -- The details of the last heartbeat (§5.27).
    heartbeat     NVARCHAR(MAX)    NULL,
    created_at    BIGINT           NOT NULL,
    CONSTRAINT pk_worker_queue PRIMARY KEY CLUSTERED (id) WITH (ALLOW_PAGE_LOCKS = OFF),
    CONSTRAINT ck_worker_queue_attempts CHECK (attempt_count >= 0)
);
GO

-- For fetch_work_item: per tag and name, the oldest ready activity without a session.
-- The session is in it, though NULL, so that a look needs nothing but the index.
CREATE INDEX ix_worker_queue_ready ON duroxide.worker_queue (tag, code_id, id) INCLUDE (session_id)
WHERE ready = 1 AND session_id IS NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For fetch_work_item: the same among activities of sessions. The session is in the
-- index so that activities of other workers' sessions are passed over without
-- reading their rows.
CREATE INDEX ix_worker_queue_ready_session ON duroxide.worker_queue (tag, code_id, id) INCLUDE (session_id)
WHERE ready = 1 AND session_id IS NOT NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For ready_due_work: what has come due. What it includes is for recommended_workers.
CREATE INDEX ix_worker_queue_wake ON duroxide.worker_queue (wake_at) INCLUDE (lock_token)
WHERE ready = 0
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For the guard of acknowledge, abandon and renew. What it includes is for ack_work_item,
-- which so needs not read the row before it locks it, and for recommended_workers; it
-- changes only when the token does.
CREATE UNIQUE INDEX uq_worker_queue_token ON duroxide.worker_queue (lock_token) INCLUDE (ready, session_id)
WHERE lock_token IS NOT NULL
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For cancelling activities in ack_orchestration_item, and for deleting an
-- instance's.
CREATE INDEX ix_worker_queue_activity ON duroxide.worker_queue (instance_id, execution_id, activity_id)
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For fetch_work_item, session by session when the oldest activities all belong to
-- sessions of others, and for cleanup_orphaned_sessions: does a session still have
-- activities, ready or not?
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
    -- How often it was claimed: unlike the end of the lease, a renewal leaves it as it is.
    claims           BIGINT        NOT NULL CONSTRAINT df_sessions_claims DEFAULT 0,
    CONSTRAINT pk_sessions PRIMARY KEY CLUSTERED (session_id) WITH (ALLOW_PAGE_LOCKS = OFF)
);
GO

-- For cleanup_orphaned_sessions, which looks at expired ones only.
CREATE INDEX ix_sessions_end ON duroxide.sessions (locked_until)
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- For renew_session_lock, which looks at live ones of some owners only.
CREATE INDEX ix_sessions_owner ON duroxide.sessions (worker_id, locked_until)
WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- Messages that could not be decoded, moved here from the queue named (§5.1, §5.10),
-- for somebody to look at.
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
