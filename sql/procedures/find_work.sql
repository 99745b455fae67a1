-- Finds the oldest ready activity without a session: one seek for untagged ones, and
-- one for each tag. With @patient = 1 it waits for activities that somebody is
-- taking, to see whether they are really taken.
--
-- Locks: worker_queue.
-- Hints: READPAST with UPDLOCK and ROWLOCK passes over activities that another claim
-- is taking, READCOMMITTEDLOCK makes them mean that under row versioning too; the
-- caller's transaction holds what is found (see fetch_work_item). INDEX keeps a plan
-- that was made for an empty table from reading the whole of it later (rule Q9). The
-- end of the lease is no condition: what is ready has none that counts. It is not in the
-- index, so that asking for it makes the hints lock the row itself, and not only its key, and
-- an activity that another call is writing is passed over instead of waited for. (A
-- column that a CHECK or NOT NULL says enough about would not do: the server knows then
-- that it need not look.)
-- vet:allow Q12-guard: fetch_work_item has asked
CREATE OR ALTER PROCEDURE duroxide.find_work
    @untagged BIT,
    @tags     duroxide.id_list_v1 READONLY,
    @patient  BIT,
    @id       BIGINT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET @id = NULL;
IF @patient = 1
    SELECT @id = MIN(c.id)
    FROM (
        SELECT u.id
        FROM (
            SELECT TOP (1) q.id
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
              AND q.tag IS NULL
              AND @untagged = 1
            ORDER BY q.id
        ) AS u
        UNION ALL
        SELECT n.id
        FROM @tags AS t
        CROSS APPLY (
            SELECT TOP (1) q.id
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
              AND q.tag = t.id
            ORDER BY q.id
        ) AS n
    ) AS c;
ELSE
    SELECT @id = MIN(c.id)
    FROM (
        SELECT u.id
        FROM (
            SELECT TOP (1) q.id
            -- vet:allow Q2: in the caller's transaction
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
              AND q.tag IS NULL
              AND @untagged = 1
              AND COALESCE(q.locked_until, 0) >= 0
            ORDER BY q.id
        ) AS u
        UNION ALL
        SELECT n.id
        FROM @tags AS t
        CROSS APPLY (
            SELECT TOP (1) q.id
            -- vet:allow Q2: in the caller's transaction
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
              AND q.tag = t.id
              AND COALESCE(q.locked_until, 0) >= 0
            ORDER BY q.id
        ) AS n
    ) AS c;
