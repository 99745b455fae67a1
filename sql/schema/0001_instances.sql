-- Instances and what belongs to them (contract §4).
--
-- Times are milliseconds since the Unix epoch, UTC, by the server's clock. Text that
-- is compared has a binary collation of its own, so that two ids never meet because
-- of the database's (rule T3); 400 UTF-16 units are the longest that fit every key
-- (rule T5). There are no foreign keys: a turn may write history for an instance
-- that has no row yet, a child survives its parent's deletion (pitfall P17), and
-- checking them would lock rows in an order of its own (rule Q6). Page locks are allowed, other
-- than on the queues: nobody passes over rows here, writes ask for row locks, a read of a whole
-- history takes fewer locks, and ALTER INDEX … REORGANIZE needs them.

-- The versions of the framework to which executions are pinned: a handful. A fetch
-- filters by a range of versions and wants the oldest work within it, which is one
-- index seek per version if the versions are enumerable. Rows are only added.
CREATE TABLE duroxide.framework_versions (
    -- 0 is left free: it stands for "not pinned".
    id    INT    NOT NULL IDENTITY (1, 1),
    major BIGINT NOT NULL,
    minor BIGINT NOT NULL,
    patch BIGINT NOT NULL,
    CONSTRAINT pk_framework_versions PRIMARY KEY CLUSTERED (id),
    CONSTRAINT uq_framework_versions UNIQUE (major, minor, patch)
);
GO

-- The names of code, by which work is selected: of orchestrations with their versions,
-- and of activities, which have none. Queues keep the number. Rows are only added.
CREATE TABLE duroxide.code_names (
    -- 0 is left free: it stands for work that needs no code, or whose name is too long
    -- to be here, so that any worker may take it.
    id      INT           NOT NULL IDENTITY (1, 1),
    -- One character more than a name may have, for what key.go appends to a blank.
    name    NVARCHAR(401) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- Empty for an activity, and for a start that asks for no version.
    version NVARCHAR(401) COLLATE Latin1_General_100_BIN2 NOT NULL,
    CONSTRAINT pk_code_names PRIMARY KEY CLUSTERED (id),
    CONSTRAINT uq_code_names UNIQUE NONCLUSTERED (name, version)
);
GO

-- The sets of names that workers know, one per set however many workers have it. A
-- fetch names its set by the digest and notes that it was seen.
CREATE TABLE duroxide.known_code (
    id       INT        NOT NULL IDENTITY (1, 1),
    -- 1 for activities, 0 for orchestrations.
    activity BIT        NOT NULL,
    -- SHA-256 of the names.
    digest   VARBINARY(32) NOT NULL,
    -- When a fetch named it last, or up to 20 seconds before.
    seen_at  BIGINT     NOT NULL,
    CONSTRAINT pk_known_code PRIMARY KEY CLUSTERED (id),
    CONSTRAINT uq_known_code UNIQUE NONCLUSTERED (digest, activity)
);
GO

-- The names in each set.
CREATE TABLE duroxide.known_code_names (
    known_id INT NOT NULL,
    code_id  INT NOT NULL,
    CONSTRAINT pk_known_code_names PRIMARY KEY CLUSTERED (known_id, code_id)
);
GO

-- For "which sets have this name?".
CREATE INDEX ix_known_code_names_code ON duroxide.known_code_names (code_id, known_id);
GO

-- One row per orchestration instance, created by the acknowledgement of its first
-- turn and by nothing else.
CREATE TABLE duroxide.instances (
    instance_id           NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- Order of creation: created_at alone does not separate two instances of the
    -- same millisecond.
    sequence              BIGINT        NOT NULL IDENTITY (1, 1),
    -- No keys, so what a client asks for always fits: an instance that could not be
    -- stored could not be failed either.
    orchestration_name    NVARCHAR(MAX) COLLATE Latin1_General_100_BIN2 NOT NULL,
    orchestration_version NVARCHAR(MAX) COLLATE Latin1_General_100_BIN2 NULL,
    -- Only ever grows.
    current_execution_id  BIGINT        NOT NULL,
    custom_status         NVARCHAR(MAX) NULL,
    custom_status_version BIGINT        NOT NULL CONSTRAINT df_instances_custom_status_version DEFAULT 0,
    parent_instance_id    NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NULL,
    created_at            BIGINT        NOT NULL,
    updated_at            BIGINT        NOT NULL,
    CONSTRAINT pk_instances PRIMARY KEY CLUSTERED (instance_id)
);
GO

-- For list_children, get_instance_tree and the check for orphaned children in
-- delete_instances, in the order of creation. Roots, the bulk of the table, are left out.
CREATE INDEX ix_instances_parent ON duroxide.instances (parent_instance_id, sequence)
WHERE parent_instance_id IS NOT NULL;
GO

-- One row per run of an instance.
CREATE TABLE duroxide.executions (
    instance_id  NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id BIGINT        NOT NULL,
    -- 'Running', 'Completed', 'Failed' or 'ContinuedAsNew'.
    status       NVARCHAR(32)  COLLATE Latin1_General_100_BIN2 NOT NULL,
    output       NVARCHAR(MAX) NULL,
    -- framework_versions.id of the version the execution is pinned to; 0 for none.
    version_id   INT           NOT NULL CONSTRAINT df_executions_version_id DEFAULT 0,
    -- code_names.id of the orchestration and the version that the execution runs; 0 if
    -- no turn has told.
    code_id      INT           NOT NULL CONSTRAINT df_executions_code_id DEFAULT 0,
    started_at   BIGINT        NOT NULL,
    completed_at BIGINT        NULL,
    CONSTRAINT pk_executions PRIMARY KEY CLUSTERED (instance_id, execution_id)
);
GO

-- For delete_instance_bulk and list_ended_page: what has ended, oldest first. Written once
-- per execution, when it ends.
CREATE INDEX ix_executions_completed ON duroxide.executions (completed_at) INCLUDE (status)
WHERE completed_at IS NOT NULL;
GO

-- The events. Append-only; clustered by execution, because they are read as a whole
-- and in order.
CREATE TABLE duroxide.history (
    instance_id  NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id BIGINT        NOT NULL,
    event_id     BIGINT        NOT NULL,
    event_type   NVARCHAR(64)  COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- The event's JSON, which no T-SQL looks into (rule T4).
    event_data   NVARCHAR(MAX) NOT NULL,
    -- Its length in UTF-8, which is what sizes are reported in (§5.19).
    data_bytes   BIGINT        NOT NULL,
    created_at   BIGINT        NOT NULL,
    CONSTRAINT pk_history PRIMARY KEY CLUSTERED (instance_id, execution_id, event_id)
);
GO

-- Key-value data as of the end of the last finished execution. Clustered by
-- instance alone, because both ids together may exceed what a clustered key holds.
CREATE TABLE duroxide.kv_store (
    instance_id        NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    kv_key             NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    value              NVARCHAR(MAX) NOT NULL,
    -- The value's length in UTF-8.
    value_bytes        BIGINT        NOT NULL,
    last_updated_at_ms BIGINT        NOT NULL,
    CONSTRAINT pk_kv_store PRIMARY KEY NONCLUSTERED (instance_id, kv_key)
);
GO

-- For the snapshot of fetch_orchestration_item.
CREATE CLUSTERED INDEX ix_kv_store_instance ON duroxide.kv_store (instance_id);
GO

-- What the running execution has changed. A NULL value is a tombstone: the key was
-- cleared.
CREATE TABLE duroxide.kv_delta (
    instance_id        NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    kv_key             NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    value              NVARCHAR(MAX) NULL,
    value_bytes        BIGINT        NOT NULL,
    last_updated_at_ms BIGINT        NOT NULL,
    CONSTRAINT pk_kv_delta PRIMARY KEY NONCLUSTERED (instance_id, kv_key)
);
GO

-- For the merge at the end of an execution, in ack_orchestration_item.
CREATE CLUSTERED INDEX ix_kv_delta_instance ON duroxide.kv_delta (instance_id);
