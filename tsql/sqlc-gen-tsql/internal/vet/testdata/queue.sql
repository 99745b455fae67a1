-- A work queue as the rules want it. Every rule is on, and none has anything to say.
CREATE SCHEMA shop;
GO
CREATE TABLE shop.owners
(
    owner_id     nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    lock_token   uniqueidentifier NULL,
    locked_until bigint NULL,
    CONSTRAINT pk_owners PRIMARY KEY CLUSTERED (owner_id) WITH (ALLOW_PAGE_LOCKS = OFF)
);

CREATE TABLE shop.jobs
(
    job_id       bigint IDENTITY(1, 1) NOT NULL,
    owner_id     nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    payload      nvarchar(max) NOT NULL,
    visible_at   bigint NOT NULL,
    lock_token   uniqueidentifier NULL,
    locked_until bigint NULL,
    CONSTRAINT pk_jobs PRIMARY KEY CLUSTERED (job_id) WITH (ALLOW_PAGE_LOCKS = OFF)
);

CREATE INDEX ix_jobs_visible ON shop.jobs (visible_at, job_id) INCLUDE (owner_id) WITH (ALLOW_PAGE_LOCKS = OFF);

CREATE TABLE shop.done
(
    job_id bigint NOT NULL,
    at     bigint NOT NULL,
    CONSTRAINT pk_done PRIMARY KEY CLUSTERED (job_id)
);
GO
CREATE TYPE shop.job_list_v1 AS TABLE
(
    job_id  bigint NOT NULL PRIMARY KEY,
    payload nvarchar(max) NOT NULL
);
GO
-- Adds jobs to the queue of an owner, which is made if there is none.
-- Called by: the web site.
-- Transaction: its own.
-- Parameters:
--   @owner_id  the owner
--   @jobs      what to do; job_id gives the order
-- Locks: owners, jobs.
-- Hints: UPDLOCK and HOLDLOCK, since two callers may add the same owner.
CREATE OR ALTER PROCEDURE shop.add_jobs
    @owner_id nvarchar(200),
    @jobs     shop.job_list_v1 READONLY
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now bigint = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
BEGIN TRY
    BEGIN TRANSACTION;
    IF NOT EXISTS (SELECT 1 FROM shop.owners AS o WITH (UPDLOCK, HOLDLOCK) WHERE o.owner_id = @owner_id)
        INSERT shop.owners (owner_id) VALUES (@owner_id);
    INSERT shop.jobs (owner_id, payload, visible_at)
    SELECT @owner_id, j.payload, @now
    FROM @jobs AS j
    ORDER BY j.job_id;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0
        ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
-- Claims the next job that is due.
-- Called by: the workers.
-- Transaction: none.
-- Parameters:
--   @token  the lease's token
--   @lease  how long it lasts, in milliseconds
-- Result sets:
--   the job, if there is one
-- Locks: jobs.
-- Hints: READCOMMITTEDLOCK, READPAST, UPDLOCK and ROWLOCK, as every claim. INDEX comes to the job by its key.
--   KEEPFIXED PLAN keeps the plan however many jobs come.
CREATE OR ALTER PROCEDURE shop.claim_job
    @token uniqueidentifier,
    @lease bigint
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now bigint = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @tries int = 0;
DECLARE @taken TABLE (job_id bigint NOT NULL PRIMARY KEY, owner_id nvarchar(200) NOT NULL, payload nvarchar(max) NOT NULL);
DECLARE @candidate bigint;

WHILE @tries < 10
BEGIN
    SET @tries += 1;
    SET @candidate = NULL;
    SELECT TOP (1) @candidate = j.job_id
    FROM shop.jobs AS j WITH (INDEX (ix_jobs_visible))
    WHERE j.visible_at <= @now
        AND (j.lock_token IS NULL OR j.locked_until <= @now)
    ORDER BY j.visible_at, j.job_id
    OPTION (KEEPFIXED PLAN);
    IF @candidate IS NULL
        BREAK;

    UPDATE j
    SET lock_token = @token,
        locked_until = @now + @lease
    OUTPUT inserted.job_id, inserted.owner_id, inserted.payload INTO @taken (job_id, owner_id, payload)
    FROM shop.jobs AS j WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (pk_jobs))
    WHERE j.job_id = @candidate
        AND (j.lock_token IS NULL OR j.locked_until <= @now)
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 1
        BREAK;
END;

SELECT t.job_id, t.owner_id, t.payload FROM @taken AS t;
GO
-- Finishes a job whose lease the caller still holds.
-- Called by: the workers.
-- Transaction: its own.
-- Parameters:
--   @job_id  the job
--   @token   the lease's token
-- Locks: jobs, done.
-- Hints: INDEX comes to the job by its key, READCOMMITTEDLOCK and ROWLOCK lock it alone. KEEPFIXED PLAN keeps
--   the plan however many jobs come.
-- Errors:
--   50010 lock_lost: the lease has ended, or belongs to another
CREATE OR ALTER PROCEDURE shop.finish_job
    @job_id bigint,
    @token  uniqueidentifier
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now bigint = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
BEGIN TRY
    BEGIN TRANSACTION;
    DELETE shop.jobs WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_jobs))
    WHERE job_id = @job_id
        AND lock_token = @token
        AND locked_until > @now
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
    BEGIN
        -- Answered already: the same call again is no error.
        IF EXISTS (SELECT 1 FROM shop.done AS d WHERE d.job_id = @job_id)
        BEGIN
            COMMIT TRANSACTION;
            RETURN;
        END;
        THROW 50010, N'shop: the lease is lost', 1;
    END;
    INSERT shop.done (job_id, at) VALUES (@job_id, @now);
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0
        ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
-- Notes that a job is done; a second note is no error.
-- Called by: the web site.
-- Transaction: none.
-- Parameters:
--   @job_id  the job
-- Locks: done.
CREATE OR ALTER PROCEDURE shop.note_done
    @job_id bigint
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now bigint = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @error int;
BEGIN TRY
    INSERT shop.done (job_id, at)
    SELECT @job_id, @now
    WHERE NOT EXISTS (SELECT 1 FROM shop.done AS d WHERE d.job_id = @job_id);
END TRY
BEGIN CATCH
    SET @error = ERROR_NUMBER();
    IF XACT_STATE() <> 0
        ROLLBACK TRANSACTION;
    IF @error NOT IN (2601, 2627)
        THROW;
END CATCH;
GO
-- Forgets jobs that were done before a time, a batch at a time, until its budget is spent.
-- Called by: the clock, every night.
-- Transaction: none.
-- Parameters:
--   @before  a time in milliseconds
--   @budget  how long it may take, in milliseconds
-- Result sets:
--   how many were forgotten
-- Locks: done.
CREATE OR ALTER PROCEDURE shop.purge_done
    @before bigint,
    @budget int
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
DECLARE @end datetime2(3) = DATEADD(MILLISECOND, @budget, SYSUTCDATETIME());
DECLARE @rows int = 1, @total bigint = 0;
WHILE @rows > 0 AND SYSUTCDATETIME() < @end
BEGIN
    DELETE TOP (1000) d FROM shop.done AS d WHERE d.at < @before;
    SET @rows = @@ROWCOUNT;
    SET @total += @rows;
END;
SELECT @total AS deleted;
GO
-- The jobs of an owner that are due.
CREATE VIEW shop.due AS
SELECT j.owner_id, COUNT_BIG(*) AS jobs
FROM shop.jobs AS j
JOIN shop.owners AS o ON o.owner_id = j.owner_id
GROUP BY j.owner_id;
GO
-- name: JobsOfOwner :many
SELECT j.job_id, (SELECT COUNT(*) FROM shop.done AS d WHERE d.job_id < j.job_id) AS done_before
FROM shop.jobs AS j
WHERE j.owner_id = @owner_id
ORDER BY done_before
OPTION (LOOP JOIN, KEEPFIXED PLAN); -- as above
