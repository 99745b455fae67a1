-- Locks the instance that has been ready longest and returns it with its history and
-- its visible messages (§5.1). Nothing is locked if nothing is ready.
--
-- A lost race means the next candidate, never an empty answer (rule Q4). Candidates
-- come in the order of their oldest visible message, over all versions that the filter
-- admits and all code that the worker knows. What is not admitted is not even looked at.
--
-- Parameters: @lock_token is new and becomes the lease's. @lock_ms is the lease in
-- milliseconds. With @filtered = 1 the current execution must be pinned to a version
-- between the two, both included, or to none. @known is the digest of the
-- orchestrations that the worker knows, NULL for all. If @unknown_ms is positive, @known
-- counts as seen and restricts nothing: what is taken has been ready for so many
-- milliseconds, and nobody has known its code for as long. Of a history whose last id is
-- above @history_limit only the last event comes, as a worker may know the others; NULL
-- sends all.
--
-- gen:null @known @history_limit
--
-- Result sets:
--   1 Dropped: instances whose messages were deleted, because nobody ever started
--     them and all they had were queue messages. If there are some but no item, the
--     last look has not been taken: fetch again
--   2 Item: the locked instance, none if nothing is ready. The name is NULL for an
--     instance without a row: it is in the history or in the message that starts it
--   3 History: the events of the execution, or the last
--   4 Values: the key-value map as of the start of the execution
--   5 Messages: those now locked, in the order of their arrival; none if the turn was
--     lost again meanwhile
--
-- Locks: known_code, inboxes, orchestrator_queue, instances, executions, history,
-- kv_store.
-- Hints: READPAST with UPDLOCK and ROWLOCK passes over instances that another call is
-- writing; READCOMMITTEDLOCK makes them mean that under row versioning too (rule Q1).
-- The look over all codes keeps nothing locked: it only chooses the code from which one
-- instance is then taken.
-- The last look waits instead of passing over, so that "nothing" means nothing;
-- LOCK_TIMEOUT bounds that wait, and the one for the row, in case it is in somebody's
-- long transaction; 1222 then says that there is nothing to fetch now. INDEX keeps a
-- plan that was made for an empty table from reading the whole of it later (rule Q9), and
-- LOOP finds the message of each instance by a seek.
-- No hint is needed for correctness: the update that takes the instance repeats the
-- condition (rule Q3).
--
-- Errors:
--   50001 wrong_isolation_level: the session is not under READ COMMITTED; do not set
--         an isolation level on the connections that the store uses
--   50014 unregistered_code: the set of names has to be registered first
CREATE OR ALTER PROCEDURE duroxide.fetch_orchestration_item
    @lock_token    UNIQUEIDENTIFIER,
    @lock_ms       BIGINT,
    @filtered      BIT,
    @min_major     BIGINT,
    @min_minor     BIGINT,
    @min_patch     BIGINT,
    @max_major     BIGINT,
    @max_minor     BIGINT,
    @max_patch     BIGINT,
    @known         VARBINARY(32),
    @unknown_ms    BIGINT,
    @history_limit BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @versions TABLE (id INT NOT NULL PRIMARY KEY);
-- The codes of which something may be taken, as far as this call knows.
DECLARE @codes TABLE (id INT NOT NULL PRIMARY KEY);
-- An instance may be there twice, if more came for it meanwhile.
DECLARE @dropped TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL, messages BIGINT NOT NULL);
DECLARE @candidate NVARCHAR(400), @version_id INT, @code_id INT, @known_id INT, @taken INT;
DECLARE @instance_id NVARCHAR(400), @name NVARCHAR(MAX), @version NVARCHAR(MAX), @execution_id BIGINT, @attempt_count INT;
DECLARE @last_event BIGINT, @first_event BIGINT = 0, @tries INT = 0, @patient BIT = 0, @seeking BIT = CASE WHEN @unknown_ms > 0 THEN 1 ELSE 0 END;

BEGIN TRY
    EXEC duroxide.require_read_committed;
    EXEC duroxide.get_known_code @digest = @known, @activity = 0, @always = @seeking, @now = @now, @known_id = @known_id OUTPUT;

    -- In transactions of its own, so that others see it at once.
    EXEC duroxide.ready_due_inboxes @now = @now;

    INSERT INTO @versions (id)
    SELECT 0
    UNION ALL
    SELECT f.id
    FROM duroxide.framework_versions AS f
    WHERE @filtered = 0
       OR (
           (f.major > @min_major OR (f.major = @min_major AND (f.minor > @min_minor OR (f.minor = @min_minor AND f.patch >= @min_patch))))
           AND (f.major < @max_major OR (f.major = @max_major AND (f.minor < @max_minor OR (f.minor = @max_minor AND f.patch <= @max_patch))))
       );

    IF @known_id IS NOT NULL AND @seeking = 0
        INSERT INTO @codes (id)
        SELECT 0
        UNION ALL
        SELECT k.code_id
        FROM duroxide.known_code_names AS k
        WHERE k.known_id = @known_id;

    BEGIN TRANSACTION;

    WHILE @instance_id IS NULL AND @tries < 1000
    BEGIN
        SET @tries = @tries + 1;
        SET @candidate = NULL;

        -- What may be taken is chosen in two steps. The first finds the code and version with
        -- the oldest head, and the second takes an instance of those.
        IF @known_id IS NULL OR @seeking = 1
        BEGIN
            DELETE FROM @codes;
            SET @code_id = -1;
            EXEC duroxide.next_ready_code @patient = @patient, @code = @code_id OUTPUT;
            WHILE @code_id IS NOT NULL
            BEGIN
                INSERT INTO @codes (id)
                VALUES (@code_id);
                EXEC duroxide.next_ready_code @patient = @patient, @code = @code_id OUTPUT;
            END;
        END;
        SET @code_id = NULL;

        IF @seeking = 1
            SELECT TOP (1) @candidate = c.instance_id, @code_id = k.code_id, @version_id = v.id
            FROM duroxide.unknown_codes(0, @now - @unknown_ms) AS k
            INNER JOIN @codes AS n ON n.id = k.code_id
            CROSS JOIN @versions AS v
            CROSS APPLY (
                SELECT TOP (1) b.instance_id, b.head_id
                -- vet:allow Q1: a look; the claim repeats its condition
                FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
                INNER LOOP JOIN duroxide.orchestrator_queue AS q ON q.instance_id = b.instance_id AND q.id = b.head_id
                WHERE b.code_id = k.code_id
                  AND b.version_id = v.id
                  AND b.head_id IS NOT NULL
                  AND COALESCE(b.locked_until, 0) <= @now - @unknown_ms
                  AND q.visible_at <= @now - @unknown_ms
                ORDER BY b.head_id
            ) AS c
            ORDER BY c.head_id;
        ELSE IF @patient = 1
            SELECT TOP (1) @candidate = c.instance_id, @code_id = n.id, @version_id = v.id
            FROM @codes AS n
            CROSS JOIN @versions AS v
            CROSS APPLY (
                SELECT TOP (1) b.instance_id, b.head_id
                FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_inboxes_ready))
                WHERE b.code_id = n.id
                  AND b.version_id = v.id
                  AND b.head_id IS NOT NULL
                ORDER BY b.head_id
            ) AS c
            ORDER BY c.head_id;
        ELSE
            -- The end of the lease is no condition: who has a head has no lease. It is not in
            -- the index, so that asking for it makes the hints look at the row itself, and not
            -- only at its key in the index: an instance that another call is writing is passed
            -- over instead of waited for.
            SELECT TOP (1) @code_id = n.id, @version_id = v.id
            FROM @codes AS n
            CROSS JOIN @versions AS v
            CROSS APPLY (
                SELECT TOP (1) b.head_id
                -- vet:allow Q1: a look that takes nothing
                FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
                WHERE b.code_id = n.id
                  AND b.version_id = v.id
                  AND b.head_id IS NOT NULL
                  AND COALESCE(b.locked_until, 0) >= 0
                ORDER BY b.head_id
            ) AS c
            ORDER BY c.head_id;

        -- The last look may time out, and nobody would hear of what was dropped.
        IF @code_id IS NULL AND (@patient = 1 OR @seeking = 1 OR EXISTS (SELECT 1 FROM @dropped AS d))
            BREAK;
        IF @code_id IS NULL
        BEGIN
            -- Also for the write below: what was seen is its key in the index, and the row
            -- itself may be in somebody's long transaction.
            SET @patient = 1;
            SET LOCK_TIMEOUT 150;
            CONTINUE;
        END;
        IF @candidate IS NULL
            SELECT TOP (1) @candidate = b.instance_id
            FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_inboxes_ready))
            WHERE b.code_id = @code_id
              AND b.version_id = @version_id
              AND b.head_id IS NOT NULL
              AND COALESCE(b.locked_until, 0) >= 0
            ORDER BY b.head_id;
        -- Others are taking all there is of it: look again.
        IF @candidate IS NULL
            CONTINUE;

        -- vet:allow Q3: there is a head only as long as nobody holds the instance
        UPDATE duroxide.inboxes
        SET lock_token = @lock_token, locked_until = @now + @lock_ms, head_id = NULL, wake_at = @now + @lock_ms
        WHERE instance_id = @candidate
          AND version_id = @version_id
          AND code_id = @code_id
          AND head_id IS NOT NULL;
        SET @taken = @@ROWCOUNT;
        SET LOCK_TIMEOUT -1;
        SET @patient = 0;

        IF @taken = 1
        BEGIN
            -- Whoever made the head visible may have done so after this call began.
            SET @now = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());

            -- The lease is exclusive, so whoever held a message before has lost it.
            -- vet:allow Q3: the lease on the inbox covers its messages
            UPDATE duroxide.orchestrator_queue
            SET lock_token = @lock_token, attempt_count = attempt_count + 1
            WHERE instance_id = @candidate
              AND visible_at <= @now;

            IF @@ROWCOUNT > 0
            BEGIN
                SELECT @name = i.orchestration_name, @version = i.orchestration_version, @execution_id = i.current_execution_id
                FROM duroxide.instances AS i
                WHERE i.instance_id = @candidate;

                IF @execution_id IS NULL
                    SELECT @execution_id = MAX(h.execution_id)
                    FROM duroxide.history AS h
                    WHERE h.instance_id = @candidate
                      AND h.event_type = N'OrchestrationStarted'
                      AND h.execution_id = (SELECT MAX(l.execution_id) FROM duroxide.history AS l WHERE l.instance_id = @candidate);

                IF @execution_id IS NOT NULL OR EXISTS (
                    SELECT 1
                    FROM duroxide.orchestrator_queue AS q
                    WHERE q.instance_id = @candidate
                      AND q.lock_token = @lock_token
                      AND q.kind IN (1, 2)
                )
                    SET @instance_id = @candidate;
                -- A start that is hidden, as after a clock was set back, will want them.
                ELSE IF NOT EXISTS (
                    SELECT 1
                    FROM duroxide.orchestrator_queue AS q
                    WHERE q.instance_id = @candidate
                      AND q.kind IN (1, 2)
                )
                BEGIN
                    -- Kept, they would be fetched again and again (pitfall P3).
                    -- vet:allow Q3: locked by this very transaction
                    DELETE FROM duroxide.orchestrator_queue
                    WHERE instance_id = @candidate
                      AND lock_token = @lock_token;
                    INSERT INTO @dropped (instance_id, messages)
                    VALUES (@candidate, @@ROWCOUNT);
                    -- vet:allow Q3: locked by this very transaction
                    DELETE FROM duroxide.inboxes
                    WHERE instance_id = @candidate
                      AND lock_token = @lock_token
                      AND NOT EXISTS (
                          SELECT 1
                          FROM duroxide.orchestrator_queue AS q
                          WHERE q.instance_id = @candidate
                      );
                END;
            END;

            IF @instance_id IS NULL
            BEGIN
                -- vet:allow Q3: locked by this very transaction
                UPDATE duroxide.inboxes
                SET lock_token = NULL, locked_until = NULL, wake_at = NULL
                WHERE instance_id = @candidate
                  AND lock_token = @lock_token;
                EXEC duroxide.refresh_inbox @instance_id = @candidate, @now = @now;
                -- What follows may have to wait, and nobody should wait for this then.
                COMMIT TRANSACTION;
                BEGIN TRANSACTION;
            END;
        END;
    END;

    -- From here on the lease protects what it is about, and the heads that were looked at
    -- are free for others while the client reads. Messages come last: whoever deletes the
    -- instance, or takes it when the lease has ended, takes them first, so that they are
    -- there only if all that was read before belongs to this turn.
    SET LOCK_TIMEOUT -1;
    COMMIT TRANSACTION;

    SELECT @attempt_count = MAX(q.attempt_count)
    FROM duroxide.orchestrator_queue AS q
    WHERE q.instance_id = @instance_id
      AND q.lock_token = @lock_token;

    IF @history_limit IS NOT NULL
        SELECT @last_event = MAX(h.event_id)
        FROM duroxide.history AS h
        WHERE h.instance_id = @instance_id
          AND h.execution_id = @execution_id;
    IF @last_event > @history_limit
        SET @first_event = @last_event;

    -- gen:result Dropped
    SELECT d.instance_id, d.messages
    FROM @dropped AS d;

    -- gen:result Item
    SELECT @instance_id AS instance_id, @name AS orchestration_name, @version AS orchestration_version,
        COALESCE(@execution_id, 1) AS execution_id, COALESCE(@attempt_count, 0) AS attempt_count
    WHERE @instance_id IS NOT NULL;

    -- gen:result History
    SELECT h.event_id, h.event_data
    FROM duroxide.history AS h
    WHERE h.instance_id = @instance_id
      AND h.execution_id = @execution_id
      AND h.event_id >= @first_event
    ORDER BY h.event_id;

    -- gen:result Values
    SELECT s.kv_key, s.value, s.last_updated_at_ms
    FROM duroxide.kv_store AS s
    WHERE s.instance_id = @instance_id;

    -- gen:result Messages
    SELECT q.id, q.work_item
    FROM duroxide.orchestrator_queue AS q
    WHERE q.instance_id = @instance_id
      AND q.lock_token = @lock_token
    ORDER BY q.id;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
