-- Instances and what belongs to them (contract §4).
--
-- Times are milliseconds since the Unix epoch, UTC, by the server's clock. Text that
-- is compared has a binary collation of its own, so that the database's collation cannot
-- make two different ids equal (rule T3). 400 UTF-16 units is the longest text that fits
-- every key (rule T5). There are no foreign keys: a turn may write history for an instance
-- that has no row yet, a child survives its parent's deletion (pitfall P17), and a foreign
-- key would lock rows in an order of its own. Page locks are allowed here, but
-- not on the queues: no statement skips locked rows here, writes ask for row locks, a read
-- of a whole history takes fewer locks, and ALTER INDEX … REORGANIZE needs page locks.

-- The versions of the framework to which executions are pinned: a handful. A fetch asks for
-- the oldest work within a range of versions. This table lists the versions of the range, so
-- the fetch needs one index seek for each. Rows are only added.
CREATE TABLE duroxide.framework_versions (
    -- No row has 0, which stands for "not pinned".
    id    INT    NOT NULL IDENTITY (1, 1),
    major BIGINT NOT NULL,
    minor BIGINT NOT NULL,
    patch BIGINT NOT NULL,
    CONSTRAINT pk_framework_versions PRIMARY KEY CLUSTERED (id),
    CONSTRAINT uq_framework_versions UNIQUE (major, minor, patch)
);
GO

-- The names of code, by which work is selected: orchestrations with their versions, and
-- activities, which have no version. Queues store a name's number. Rows are only added.
CREATE TABLE duroxide.code_names (
    -- No row has 0. It marks work that any worker may take, because the work needs no code,
    -- or because the code's name is too long for this table.
    id      INT           NOT NULL IDENTITY (1, 1),
    -- One character more than a name may have, for the guard that key.go appends to a
    -- name that ends in a blank.
    name    NVARCHAR(401) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- Empty for an activity, and for a start that asks for no version.
    version NVARCHAR(401) COLLATE Latin1_General_100_BIN2 NOT NULL,
    CONSTRAINT pk_code_names PRIMARY KEY CLUSTERED (id),
    CONSTRAINT uq_code_names UNIQUE NONCLUSTERED (name, version)
);
GO

-- The sets of names that workers know, one row per set however many workers have the set. A
-- fetch names its set by the digest and records when the set was last seen.
CREATE TABLE duroxide.known_code (
    id       INT        NOT NULL IDENTITY (1, 1),
    -- 1 for activities, 0 for orchestrations.
    activity BIT        NOT NULL,
    -- SHA-256 of the names and, for activities, of the tags.
    digest   VARBINARY(32) NOT NULL,
    -- When a fetch last named the set. The recorded time may be 20 seconds too early.
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

-- Answers "which sets have this name?".
CREATE INDEX ix_known_code_names_code ON duroxide.known_code_names (code_id, known_id);
GO

-- The tags that the fetches of each set of activities take: '*' is any tag or none, '+gpu' is the tag
-- gpu, and '+' is no tag.
CREATE TABLE duroxide.known_code_tags (
    known_id INT           NOT NULL,
    tag      NVARCHAR(401) COLLATE Latin1_General_100_BIN2 NOT NULL,
    CONSTRAINT pk_known_code_tags PRIMARY KEY CLUSTERED (known_id, tag)
);
GO

-- One row per orchestration instance. Only the acknowledgement of an instance's first
-- turn adds it.
CREATE TABLE duroxide.instances (
    instance_id           NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- The order of creation. created_at alone cannot order two instances of the
    -- same millisecond.
    sequence              BIGINT        NOT NULL IDENTITY (1, 1),
    -- Name and version are in no key, so a name of any length fits. An instance that
    -- could not be stored could not be failed either.
    orchestration_name    NVARCHAR(MAX) COLLATE Latin1_General_100_BIN2 NOT NULL,
    orchestration_version NVARCHAR(MAX) COLLATE Latin1_General_100_BIN2 NULL,
    -- Never gets smaller.
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
-- delete_instances, in the order of creation. Roots, which most rows are, are left out.
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
    -- no turn has recorded it yet.
    code_id      INT           NOT NULL CONSTRAINT df_executions_code_id DEFAULT 0,
    started_at   BIGINT        NOT NULL,
    completed_at BIGINT        NULL,
    CONSTRAINT pk_executions PRIMARY KEY CLUSTERED (instance_id, execution_id)
);
GO

-- For list_ended_page: executions that have ended, oldest first. Each
-- execution is added once, when it ends.
CREATE INDEX ix_executions_completed ON duroxide.executions (completed_at) INCLUDE (status)
WHERE completed_at IS NOT NULL;
GO

-- The filters of this index and of the next two count executions by their status: the server keeps the number of rows
-- of each index, which get_system_metrics reads. completed_at is included, although it is NULL, so that a query reads
-- the index alone. For list_latest_page: what runs, by its start. A row is added and removed once.
CREATE INDEX ix_executions_running ON duroxide.executions (started_at) INCLUDE (completed_at)
WHERE completed_at IS NULL;
GO

-- For list_latest_page: what has failed, by its end. It costs nothing unless an execution fails.
CREATE INDEX ix_executions_failed ON duroxide.executions (completed_at) INCLUDE (status)
WHERE status = N'Failed';
GO

-- For list_latest_page: what has continued as new. It costs nothing unless an execution does.
CREATE INDEX ix_executions_continued ON duroxide.executions (completed_at) INCLUDE (status)
WHERE status = N'ContinuedAsNew';
GO

-- The events. Rows are only added, and deleted with their execution. They are clustered by
-- execution, because a history is read as a whole and in order.
CREATE TABLE duroxide.history (
    instance_id  NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id BIGINT        NOT NULL,
    event_id     BIGINT        NOT NULL,
    event_type   NVARCHAR(64)  COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- The event's JSON, which no T-SQL looks into (rule T4).
    event_data   NVARCHAR(MAX) NOT NULL,
    -- The length of event_data in UTF-8, the unit in which sizes are reported.
    data_bytes   BIGINT        NOT NULL,
    created_at   BIGINT        NOT NULL,
    CONSTRAINT pk_history PRIMARY KEY CLUSTERED (instance_id, execution_id, event_id)
);
GO

-- Key-value data as of the end of the last finished execution. Clustered by
-- instance alone, because instance id and key together may exceed the size of a clustered key.
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

-- For read_turn, which reads all values of an instance.
CREATE CLUSTERED INDEX ix_kv_store_instance ON duroxide.kv_store (instance_id);
GO

-- The changes of the running execution. A NULL value is a tombstone: the execution has
-- cleared the key.
CREATE TABLE duroxide.kv_delta (
    instance_id        NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    kv_key             NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    value              NVARCHAR(MAX) NULL,
    value_bytes        BIGINT        NOT NULL,
    last_updated_at_ms BIGINT        NOT NULL,
    CONSTRAINT pk_kv_delta PRIMARY KEY NONCLUSTERED (instance_id, kv_key)
);
GO

-- For merge_values, at the end of an execution.
CREATE CLUSTERED INDEX ix_kv_delta_instance ON duroxide.kv_delta (instance_id);
