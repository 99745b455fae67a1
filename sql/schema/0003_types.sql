-- The types of list arguments. A type cannot change while a procedure uses it, so a change
-- is a new type with the next number (rule T6). The first column is the position in the list.
-- It is the key, so that the server need not sort.

-- Events to append.
CREATE TYPE duroxide.event_list_v1 AS TABLE (
    position   INT           NOT NULL PRIMARY KEY,
    event_id   BIGINT        NOT NULL,
    event_type NVARCHAR(64)  COLLATE Latin1_General_100_BIN2 NOT NULL,
    event_data NVARCHAR(MAX) NOT NULL,
    data_bytes BIGINT        NOT NULL
);
GO

-- Messages for the orchestrator queue.
CREATE TYPE duroxide.message_list_v1 AS TABLE (
    position    INT           NOT NULL PRIMARY KEY,
    instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    kind        TINYINT       NOT NULL,
    -- The code that a message of kind 1 or 2 starts, NULL if any worker may take it; the name
    -- 'duroxide:cancel' for a request to cancel.
    name        NVARCHAR(401) COLLATE Latin1_General_100_BIN2 NULL,
    version     NVARCHAR(401) COLLATE Latin1_General_100_BIN2 NULL,
    -- The queue of a message of kind 0; NULL for the others.
    queue       NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NULL,
    work_item   NVARCHAR(MAX) NOT NULL,
    -- How long the message stays hidden.
    delay_ms    BIGINT        NOT NULL
);
GO

-- What a turn did with queues.
CREATE TYPE duroxide.queue_list_v1 AS TABLE (
    position INT           NOT NULL PRIMARY KEY,
    queue    NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- How many of the turn's messages it has read, the oldest of the queue.
    messages BIGINT        NOT NULL,
    -- 1 if the instance waits for the next one.
    awaited  BIT           NOT NULL
);
GO

-- Activities for the worker queue.
CREATE TYPE duroxide.work_list_v1 AS TABLE (
    position     INT           NOT NULL PRIMARY KEY,
    instance_id  NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id BIGINT        NOT NULL,
    activity_id  BIGINT        NOT NULL,
    session_id   NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NULL,
    tag          NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- The activity's name; NULL if any worker may take it.
    name         NVARCHAR(401) COLLATE Latin1_General_100_BIN2 NULL,
    work_item    NVARCHAR(MAX) NOT NULL
);
GO

-- Names of code, in the order of name and version.
CREATE TYPE duroxide.code_list_v1 AS TABLE (
    position INT           NOT NULL PRIMARY KEY,
    name     NVARCHAR(401) COLLATE Latin1_General_100_BIN2 NOT NULL,
    version  NVARCHAR(401) COLLATE Latin1_General_100_BIN2 NOT NULL
);
GO

-- Values of code_names.id. Procedures pass the list to each other.
CREATE TYPE duroxide.code_id_list_v1 AS TABLE (
    code_id INT NOT NULL PRIMARY KEY
);
GO

-- Tags with values of code_names.id. Procedures pass the list to each other.
CREATE TYPE duroxide.work_code_list_v1 AS TABLE (
    tag     NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    code_id INT           NOT NULL,
    PRIMARY KEY (tag, code_id)
);
GO

-- Values of framework_versions.id. Procedures pass the list to each other.
CREATE TYPE duroxide.version_id_list_v1 AS TABLE (
    version_id INT NOT NULL PRIMARY KEY
);
GO

-- Activities to cancel.
CREATE TYPE duroxide.activity_list_v1 AS TABLE (
    position     INT           NOT NULL PRIMARY KEY,
    instance_id  NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id BIGINT        NOT NULL,
    activity_id  BIGINT        NOT NULL
);
GO

-- Changes of an instance's keys, at most one per key. A NULL value clears the key; a
-- NULL time stands for the server's present time.
CREATE TYPE duroxide.kv_list_v1 AS TABLE (
    position           INT           NOT NULL PRIMARY KEY,
    kv_key             NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    value              NVARCHAR(MAX) NULL,
    value_bytes        BIGINT        NOT NULL,
    last_updated_at_ms BIGINT        NULL
);
GO

-- Ids of instances, or of owners of sessions.
CREATE TYPE duroxide.id_list_v1 AS TABLE (
    position INT           NOT NULL PRIMARY KEY,
    id       NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL
);
GO

-- Executions. Procedures pass the list to each other. The positions are 1, 2, 3 … without gaps.
CREATE TYPE duroxide.execution_list_v1 AS TABLE (
    position     INT           NOT NULL PRIMARY KEY,
    instance_id  NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id BIGINT        NOT NULL
);
GO

-- Leases on activities. Who gives back leases of which the answer was lost does not know the ids:
-- they are 0.
CREATE TYPE duroxide.token_list_v1 AS TABLE (
    position   INT              NOT NULL PRIMARY KEY,
    id         BIGINT           NOT NULL,
    lock_token UNIQUEIDENTIFIER NOT NULL
);
GO

-- Requests for a turn: one row, or none.
CREATE TYPE duroxide.turn_claim_v1 AS TABLE (
    position      INT              NOT NULL PRIMARY KEY,
    -- A new token, and how long the lease lasts.
    lock_token    UNIQUEIDENTIFIER NOT NULL,
    lock_ms       BIGINT           NOT NULL,
    -- The digest of the orchestrations that the worker knows; NULL for a worker that names none: it
    -- takes all but what others have named in the last 75 seconds.
    known         VARBINARY(32)    NULL,
    -- If positive, only instances that have been ready for so many milliseconds and whose code no worker
    -- has known for as long; with cancelled, only those with a visible request to cancel them, however
    -- short they have been ready.
    unknown_ms    BIGINT           NOT NULL,
    cancelled     BIT              NOT NULL,
    -- 1 takes only instances whose current execution is bound to a version of the framework between the
    -- two that follow, both included, or to none.
    filtered      BIT              NOT NULL,
    min_major     BIGINT           NOT NULL,
    min_minor     BIGINT           NOT NULL,
    min_patch     BIGINT           NOT NULL,
    max_major     BIGINT           NOT NULL,
    max_minor     BIGINT           NOT NULL,
    max_patch     BIGINT           NOT NULL,
    -- Which events and messages are sent, see read_turn.
    history_limit BIGINT           NULL,
    peek          BIT              NOT NULL,
    -- The first look skips heads with a lower id, and makes ready only what has been due since due_from: rows
    -- that are gone stay in an index while a reader needs them. 0 for all. A look that finds nothing is
    -- repeated without the two.
    from_head     BIGINT           NOT NULL,
    due_from      BIGINT           NOT NULL
);
GO

-- Requests for activities: each row takes one activity at most. Rows with the same selection differ only
-- in the token and the owner.
CREATE TYPE duroxide.take_list_v1 AS TABLE (
    position   INT              NOT NULL PRIMARY KEY,
    selection  INT              NOT NULL,
    -- The lease's token, a new one, and how long the lease lasts.
    lock_token UNIQUEIDENTIFIER NOT NULL,
    lock_ms    BIGINT           NOT NULL,
    -- Who has the activity's session then, and for how long. NULL takes no activities of sessions, except
    -- with unknown_ms.
    owner      NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    session_ms BIGINT           NOT NULL,
    -- 1 takes any tag. Else one of up to six is taken; the empty text is that of activities without a tag.
    any_tag    BIT              NOT NULL,
    tag1       NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    tag2       NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    tag3       NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    tag4       NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    tag5       NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    tag6       NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    -- The digest of the activities that the worker knows; NULL for a worker that names none: it takes all
    -- but what others have named in the last 75 seconds.
    known      VARBINARY(32)    NULL,
    -- If positive, takes only activities that have been ready for so many milliseconds and whose code no
    -- worker has known for as long, in sessions of any owner; known then restricts nothing.
    unknown_ms BIGINT           NOT NULL,
    -- The first look skips lower ids, as deleted ones stay in the index while a reader needs old row
    -- versions, and makes ready only what has been due since this time, in milliseconds since 1970 UTC. An
    -- empty look is repeated without these two limits; 0 for none.
    from_id    BIGINT           NOT NULL,
    due_from   BIGINT           NOT NULL
);
GO

-- Activities to end, each with the completion message for its instance; NULL for no message.
CREATE TYPE duroxide.completion_list_v1 AS TABLE (
    position    INT              NOT NULL PRIMARY KEY,
    id          BIGINT           NOT NULL,
    lock_token  UNIQUEIDENTIFIER NOT NULL,
    instance_id NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    work_item   NVARCHAR(MAX)    NULL
);
GO

-- Leases to renew, of turns and of activities.
CREATE TYPE duroxide.lease_list_v1 AS TABLE (
    position    INT              NOT NULL PRIMARY KEY,
    -- The activity; 0 for a turn.
    id          BIGINT           NOT NULL,
    -- The instance of a turn; NULL for an activity.
    instance_id NVARCHAR(400)    COLLATE Latin1_General_100_BIN2 NULL,
    lock_token  UNIQUEIDENTIFIER NOT NULL,
    turn       BIT              NOT NULL,
    extend_ms  BIGINT           NOT NULL
);
GO

-- Rows of a queue that could not be decoded, and why.
CREATE TYPE duroxide.letter_list_v1 AS TABLE (
    position INT           NOT NULL PRIMARY KEY,
    queue_id BIGINT        NOT NULL,
    error    NVARCHAR(MAX) NOT NULL
);
