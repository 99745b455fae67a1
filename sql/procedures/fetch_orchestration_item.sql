-- Locks the instance that has been ready longest and returns it with its history and its visible
-- messages. Nothing is locked if nothing is ready.
--
-- If another call takes a candidate first, the next candidate is tried. Candidates come in the order
-- of their oldest visible message, over all versions that the filter admits and all code that the
-- worker knows. The clock is read again just before the update that takes the instance, because the
-- lease begins at that time.
--
-- Called by: Store.FetchOrchestrationItem, take.
-- Transaction: its own, one for each try, so that the next try does not hold locks of this one. The
--   result is read after the commit, under the lease.
--
-- Parameters:
--   @lock_token     the lease's token: a new one
--   @lock_ms        how long the lease lasts, in milliseconds
--   @filtered       1 takes only instances whose current execution is bound to a version between the two
--                   that follow, both included, or to none
--   @min_major, @min_minor, @min_patch
--                   the lowest version
--   @max_major, @max_minor, @max_patch
--                   the highest version
--   @known          the digest of the orchestrations that the worker knows; NULL for a worker that
--                   names none: it takes all but what others have named in the last 75 seconds
--   @unknown_ms     if positive, takes only instances that have been ready for so many milliseconds and
--                   whose code no worker has known for as long; @known then restricts nothing. 0 for the
--                   usual fetch
--   @history_limit  if the last event id is higher, only the last event is sent, because the worker may
--                   have the others; NULL sends all
--   @peek           1 sends the oldest queue messages only, and leaves the others where they are
--                   (function waiting_messages); 0 sends all that are visible
--   @hasty          1 does not wait for writers, and may miss their work
--   @from_head      the first look skips heads with a lower id: deleted ones stay in the index while a
--                   reader needs old row versions; 0 for all
--   @due_from       the first look makes ready only what has been due since this time, in milliseconds
--                   since 1970 UTC; 0 for all. A look that finds nothing is repeated without these two
--                   limits
--   @cancelled      1 with @unknown_ms takes only instances with a visible request to cancel them, however
--                   short they have been ready
--
-- Result sets:
--   1 Dropped: instances whose messages were deleted, because they never began and had only queue
--     messages; if there are any. If there are some but no item, fetch again, because the last look was
--     skipped
--   2 Item: the locked instance, and the sets that follow, if something is ready. The name is NULL for an
--     instance without a row: it is in the history or in the message that starts it. due_until: what was
--     due by this time, in milliseconds since 1970 UTC, is ready. looked_ms: how long choosing took, in
--     milliseconds
--   3 History: the events of the execution, or the last
--   4 Values: the key-value map as of the start of the execution, unless it is empty
--   5 Messages: those now locked, in the order of their arrival; none if another call has taken the turn
--     meanwhile
--
-- Locks: known_code, known_code_names, framework_versions (shared, before the claim); inboxes
--   (the instance's row, by ix_inboxes_ready and then pk_inboxes), orchestrator_queue (the
--   visible messages, by ix_orchestrator_queue_kind and then pk_orchestrator_queue; those of a hold by
--   ix_orchestrator_queue_held: whoever writes messages holds the inbox), instances,
--   executions, history (shared, by the primary key), kv_store (shared, by ix_kv_store_instance).
--
-- Hints: the first look, and find_turn after it, choose the instance. The first look keeps no lock.
--   So the update after it skips the instance (READPAST) if another call has it by then, and locks
--   the row before its keys (UPDLOCK). The condition on locked_until is explained in find_turn. The
--   last look waits for others instead of skipping them, so an empty answer means that nothing is
--   ready. LOCK_TIMEOUT limits that wait and the wait for the row; error 1222 then means that there
--   is nothing to fetch now. READPAST does not wait for a version of the framework that is being
--   added, because no execution can be bound to it yet. READCOMMITTEDLOCK takes locks under row
--   versioning as well, ROWLOCK keeps to rows, and UPDLOCK waits for rows that are about to become
--   fetchable. FORCESEEK locks the row before its keys in the indexes, so that two fetches cannot
--   lock them in opposite orders, and reads no rows of other instances. With LOOP it seeks what is
--   visible of each kind, nothing of what is hidden, and the messages of the turn by their keys: a
--   reader through the token's index would hold its key and wait for the row, while a deletion that
--   has locked the row waits for the key. INDEX reads what is ready or due. No hint is needed for
--   correctness: the update that takes the instance repeats the condition. KEEPFIXED PLAN prevents
--   a new plan when many rows have changed, see 0005_storage.sql.
--
-- Errors:
--   50014 unregistered_code: the set of names has to be registered first
--
-- Length: choosing, taking and dropping share one loop and its variables, and the result sets
--   follow from them; helpers do what can be cut out of it.
--
-- gen:null @known @history_limit
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
    @history_limit BIGINT,
    @peek          BIT = 0,
    @hasty         BIT = 0,
    @from_head     BIGINT = 0,
    @due_from      BIGINT = 0,
    @cancelled     BIT = 0
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @versions duroxide.version_id_list_v1;
-- The codes of which something may be taken, as far as this call knows.
DECLARE @codes duroxide.code_id_list_v1;
-- An instance may be there twice, if more came for it meanwhile.
DECLARE @dropped TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL, messages BIGINT NOT NULL);
DECLARE @messages TABLE (id BIGINT NOT NULL PRIMARY KEY);
DECLARE @candidate NVARCHAR(400), @version_id INT, @code_id INT, @known_id INT, @taken INT,
    @instance_id NVARCHAR(400), @name NVARCHAR(MAX), @version NVARCHAR(MAX), @execution_id BIGINT, @first_event BIGINT = 0,
    @tries INT = 0, @quick BIT, @patient BIT = 0, @more BIT = 0, @began BIGINT = @now, @looked_ms BIGINT,
    @seeking BIT = CASE WHEN @unknown_ms > 0 THEN 1 ELSE 0 END, @unknown_since BIGINT = @now - @unknown_ms,
    @ready_by BIGINT = @now - CASE @cancelled WHEN 1 THEN 0 ELSE @unknown_ms END,
    @unnamed BIT = CASE WHEN @known IS NULL THEN 1 ELSE 0 END;

BEGIN TRY
    -- Who has named its set a moment ago need not say so.
    SELECT @known_id = k.id
    FROM duroxide.known_code AS k WITH (INDEX (uq_known_code))
    WHERE k.digest = @known
      AND k.activity = 0
      AND k.seen_at > @now - 20000
      AND @seeking = 0;
    IF @known IS NOT NULL AND @known_id IS NULL
        EXEC duroxide.get_known_code @digest = @known, @activity = 0, @always = @seeking, @now = @now, @known_id = @known_id OUTPUT;
    IF EXISTS (
        SELECT 1
        -- vet:allow Q2-exists: the transaction that writes the row also computes its state
        FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_wake))
        -- The last condition is the filter of the index.
        WHERE b.wake_at >= @due_from
          AND b.wake_at <= @now
          AND b.wake_at IS NOT NULL
    )
        EXEC duroxide.ready_due_inboxes @now = @now, @due_from = @due_from, @more = @more OUTPUT;
    SET @due_from = CASE @more WHEN 0 THEN @now ELSE @due_from END;

    INSERT INTO @versions (version_id)
    SELECT 0
    UNION ALL
    SELECT f.id
    -- vet:allow Q1: it only looks, and takes nothing
    FROM duroxide.framework_versions AS f WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK)
    WHERE @filtered = 0
       OR (
           (f.major > @min_major OR (f.major = @min_major AND (f.minor > @min_minor OR (f.minor = @min_minor AND f.patch >= @min_patch))))
           AND (f.major < @max_major OR (f.major = @max_major AND (f.minor < @max_minor OR (f.minor = @max_minor AND f.patch <= @max_patch))))
       );

    WHILE @instance_id IS NULL AND @tries < 1000
    BEGIN
        SET @tries = @tries + 1;
        SET @quick = CASE WHEN @tries = 1 AND @known_id IS NOT NULL AND @seeking = 0 THEN 1 ELSE 0 END;

        -- Choose.
        IF @known_id IS NULL OR @seeking = 1
        BEGIN
            DELETE FROM @codes;
            SET @code_id = -1;
            EXEC duroxide.next_ready_code @patient = @patient, @code = @code_id OUTPUT;
            WHILE @code_id IS NOT NULL
            BEGIN
                INSERT INTO @codes (code_id)
                VALUES (@code_id);
                EXEC duroxide.next_ready_code @patient = @patient, @code = @code_id OUTPUT;
            END;
            IF @seeking = 0
                DELETE c
                FROM @codes AS c
                WHERE EXISTS (SELECT 1 FROM duroxide.known_codes(0, @now - 75000) AS k WHERE k.code_id = c.code_id);
        END;
        ELSE IF @tries > 1 AND NOT EXISTS (SELECT 1 FROM @codes AS c)
            INSERT INTO @codes (code_id)
            SELECT 0
            UNION ALL
            SELECT k.code_id
            FROM duroxide.known_code_names AS k
            WHERE k.known_id = @known_id;
        BEGIN TRANSACTION;
        IF @seeking = 1
            EXEC duroxide.find_unknown_turn @versions = @versions, @codes = @codes, @since = @unknown_since,
                @ready_by = @ready_by, @cancelled = @cancelled, @now = @now,
                @instance_id = @candidate OUTPUT, @version_id = @version_id OUTPUT, @code_id = @code_id OUTPUT;
        -- The first look locks nothing, so that somebody else may take the instance first.
        ELSE IF @quick = 1
            SELECT TOP (1) @candidate = h.instance_id, @version_id = v.version_id, @code_id = c.code_id
            FROM (
                SELECT 0 AS code_id
                UNION ALL
                SELECT k.code_id
                FROM duroxide.known_code_names AS k
                WHERE k.known_id = @known_id
            ) AS c
            CROSS JOIN @versions AS v
            CROSS APPLY (
                SELECT TOP (1) b.instance_id, b.head_id
                -- vet:allow Q1: it only looks; the update tests again that the instance is ready
                FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
                WHERE b.code_id = c.code_id
                  AND b.version_id = v.version_id
                  AND b.head_id IS NOT NULL
                  AND b.head_id >= @from_head
                  AND COALESCE(b.locked_until, 0) >= 0
                ORDER BY b.head_id
            ) AS h
            ORDER BY h.head_id
            OPTION (KEEPFIXED PLAN);
        ELSE
            EXEC duroxide.find_turn @versions = @versions, @codes = @codes, @from_head = @from_head, @patient = @patient,
                @instance_id = @candidate OUTPUT, @version_id = @version_id OUTPUT, @code_id = @code_id OUTPUT;
        IF @candidate IS NULL
        BEGIN
            COMMIT TRANSACTION;
            IF @from_head > 0
            BEGIN
                SET @from_head = 0;
                CONTINUE;
            END;
            IF @more = 1
            BEGIN
                EXEC duroxide.ready_due_inboxes @now = @now, @due_from = 0, @more = @more OUTPUT;
                CONTINUE;
            END;
            -- The last look may time out, and nobody would hear of what was dropped.
            IF @patient = 1 OR @seeking = 1 OR @hasty = 1 OR EXISTS (SELECT 1 FROM @dropped AS d)
                BREAK;
            SET @patient = 1;
            SET LOCK_TIMEOUT 150;
            -- Others may be about to make fetchable what is due.
            WHILE @tries < 1000 AND EXISTS (
                SELECT 1
                FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, UPDLOCK, ROWLOCK, INDEX (ix_inboxes_wake))
                WHERE b.wake_at <= @now
                  AND b.wake_at IS NOT NULL
                  AND b.version_id >= 0
            )
            BEGIN
                SET @tries = @tries + 1;
                EXEC duroxide.ready_due_inboxes @now = @now, @due_from = 0, @more = @more OUTPUT;
            END;
            CONTINUE;
        END;

        -- Without these indexes nobody could acknowledge or give back what is taken here. If one is missing or
        -- disabled, this statement fails (error 308 or 315), before an attempt is counted. A scan of them would
        -- wait for the holders of other tokens, who may wait for the candidate.
        SELECT @taken = COUNT(*)
        FROM (
            SELECT b.lock_token
            FROM duroxide.inboxes AS b WITH (FORCESEEK (uq_inboxes_token (lock_token)))
            WHERE b.lock_token = @lock_token
              AND b.lock_token IS NOT NULL
            UNION ALL
            SELECT q.lock_token
            FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_token (lock_token)))
            WHERE q.lock_token = @lock_token
              AND q.lock_token IS NOT NULL
        ) AS t
        OPTION (KEEPFIXED PLAN);

        -- Take the instance.
        IF @seeking = 1
            SET LOCK_TIMEOUT 150;
        SET @now = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
        SET @looked_ms = CASE @patient WHEN 1 THEN 0 ELSE @now - @began END;
        IF @quick = 1
            -- vet:allow Q3: there is a head only as long as nobody holds the instance
            UPDATE b
            SET lock_token = @lock_token, locked_until = @now + @lock_ms, head_id = NULL, wake_at = @now + @lock_ms
            -- vet:allow Q3-wait: if the row is passed over, the loop looks again
            FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
            WHERE instance_id = @candidate
              AND version_id = @version_id
              AND code_id = @code_id
              AND head_id IS NOT NULL
            OPTION (KEEPFIXED PLAN);
        ELSE
            -- vet:allow Q3: there is a head only as long as nobody holds the instance
            UPDATE b
            SET lock_token = @lock_token, locked_until = @now + @lock_ms, head_id = NULL, wake_at = @now + @lock_ms
            FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
            WHERE instance_id = @candidate
              AND version_id = @version_id
              AND code_id = @code_id
              AND head_id IS NOT NULL
            OPTION (KEEPFIXED PLAN);
        SELECT @taken = @@ROWCOUNT, @patient = 0;
        SET LOCK_TIMEOUT -1;

        -- Take its messages, and see what they are for.
        IF @taken = 1
        BEGIN
            -- Whoever made the head visible may have done so while the update waited.
            SET @now = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
            -- What came since the hold does not overtake what is held.
            UPDATE q
            SET visible_at = @now
            FROM duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (ix_orchestrator_queue_held))
            WHERE q.instance_id = @candidate
              -- The filter of the index.
              AND q.misfit_at IS NOT NULL
              AND q.visible_at > @now
            OPTION (KEEPFIXED PLAN);
            IF EXISTS (
                SELECT 1
                FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_kind (instance_id, kind)))
                WHERE q.instance_id = @candidate
                  AND q.kind = 4
            )
                INSERT INTO @messages (id)
                SELECT w.id
                FROM duroxide.waiting_messages(@candidate, @now) AS w
                WHERE @peek = 1
                UNION ALL
                SELECT q.id
                FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_kind (instance_id, kind, visible_at)))
                WHERE q.instance_id = @candidate
                  AND q.kind = 4
                  AND q.visible_at <= @now
                  AND @peek = 0
                OPTION (KEEPFIXED PLAN);
            INSERT INTO @messages (id)
            SELECT q.id
            FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT))) AS k (kind)
            INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_kind (instance_id, kind, visible_at))) ON q.kind = k.kind
            WHERE q.instance_id = @candidate
              AND q.visible_at <= @now
            OPTION (KEEPFIXED PLAN);
            -- The lease is exclusive, so whoever held a message before has lost it.
            -- vet:allow Q3: the lease on the inbox covers its messages
            UPDATE q
            SET lock_token = @lock_token,
                attempt_count = q.attempt_count + 1 - CASE @unnamed WHEN 1 THEN 0 ELSE q.unnamed_count END,
                unnamed_count = CASE @unnamed WHEN 1 THEN q.unnamed_count + 1 ELSE 0 END
            FROM @messages AS m
            INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue)) ON q.id = m.id
            WHERE q.instance_id = @candidate
            OPTION (KEEPFIXED PLAN);
            SET @taken = @@ROWCOUNT;
            IF @taken > 0
            BEGIN
                SELECT @name = i.orchestration_name, @version = i.orchestration_version, @execution_id = i.current_execution_id
                FROM duroxide.instances AS i WITH (FORCESEEK (pk_instances (instance_id)))
                WHERE i.instance_id = @candidate;
                IF @execution_id IS NULL
                    SELECT @execution_id = MAX(h.execution_id)
                    FROM duroxide.history AS h WITH (FORCESEEK (pk_history (instance_id, execution_id)))
                    WHERE h.instance_id = @candidate
                      AND h.event_type = N'OrchestrationStarted'
                      AND h.execution_id = (
                          SELECT MAX(l.execution_id)
                          FROM duroxide.history AS l WITH (FORCESEEK (pk_history (instance_id)))
                          WHERE l.instance_id = @candidate
                      );
                IF @execution_id IS NOT NULL OR EXISTS (
                    SELECT 1
                    FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_kind (instance_id, kind)))
                    WHERE q.instance_id = @candidate
                      AND q.lock_token = @lock_token
                      AND q.kind IN (1, 2)
                )
                    SET @instance_id = @candidate;
                -- A start that is hidden, as after a clock was set back, will want them.
                ELSE IF NOT EXISTS (
                    SELECT 1
                    FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_kind (instance_id, kind)))
                    WHERE q.instance_id = @candidate
                      AND q.kind IN (1, 2)
                )
                BEGIN
                    -- Kept, they would be fetched again and again (pitfall P3).
                    -- vet:allow Q3: this transaction has taken the instance
                    DELETE q
                    FROM duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue))
                    WHERE instance_id = @candidate
                      AND (lock_token = @lock_token OR kind = 4)
                    OPTION (KEEPFIXED PLAN);
                    INSERT INTO @dropped (instance_id, messages)
                    VALUES (@candidate, @@ROWCOUNT);
                    -- vet:allow Q3: this transaction has taken the instance
                    DELETE b
                    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
                    WHERE instance_id = @candidate
                      AND lock_token = @lock_token
                      AND NOT EXISTS (
                          SELECT 1
                          FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id)))
                          WHERE q.instance_id = @candidate
                      )
                    OPTION (KEEPFIXED PLAN);
                END;
            END;

            -- There is nothing to do for it: as if it had not been taken.
            IF @instance_id IS NULL
            BEGIN
                -- vet:allow Q3: this transaction has taken the instance
                UPDATE b
                SET lock_token = NULL, locked_until = NULL, wake_at = NULL
                FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
                WHERE instance_id = @candidate
                  AND lock_token = @lock_token
                OPTION (KEEPFIXED PLAN);
                EXEC duroxide.refresh_inbox @instance_id = @candidate, @now = @now;
                DELETE FROM @messages;
            END;
        END;
        COMMIT TRANSACTION;
    END;
    SET LOCK_TIMEOUT -1;

    IF EXISTS (SELECT 1 FROM @dropped AS d)
        -- gen:result Dropped
        SELECT d.instance_id, d.messages
        FROM @dropped AS d;

    -- From here on the lease protects what is read. Messages come last: whoever deletes the
    -- instance, or takes it when the lease has ended, takes them first, so that they are
    -- there only if all that was read before belongs to this turn.
    IF @instance_id IS NOT NULL
    BEGIN
        IF @history_limit IS NOT NULL
            SELECT TOP (1) @first_event = h.event_id
            FROM duroxide.history AS h WITH (INDEX (pk_history))
            WHERE h.instance_id = @instance_id
              AND h.execution_id = @execution_id
              AND h.event_id > @history_limit
            ORDER BY h.event_id DESC
            OPTION (KEEPFIXED PLAN);

        -- gen:result Item
        SELECT @instance_id AS instance_id, @name AS orchestration_name, @version AS orchestration_version,
            COALESCE(@execution_id, 1) AS execution_id,
            COALESCE((
                SELECT MAX(q.attempt_count)
                FROM @messages AS m
                INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, id))) ON q.id = m.id
                WHERE q.instance_id = @instance_id
                  AND q.lock_token = @lock_token
            ), 0) AS attempt_count,
            COALESCE(@due_from, 0) AS due_until, COALESCE(@looked_ms, 0) AS looked_ms
        -- Which makes it a set that may be empty, as that of take is.
        WHERE @instance_id IS NOT NULL
        OPTION (KEEPFIXED PLAN);

        -- gen:result History
        SELECT h.event_id, h.event_data
        FROM duroxide.history AS h WITH (INDEX (pk_history))
        WHERE h.instance_id = @instance_id
          AND h.execution_id = @execution_id
          AND h.event_id >= @first_event
        ORDER BY h.event_id
        OPTION (KEEPFIXED PLAN);

        IF EXISTS (SELECT 1 FROM duroxide.kv_store AS s WITH (INDEX (ix_kv_store_instance)) WHERE s.instance_id = @instance_id)
            -- gen:result Values
            SELECT s.kv_key, s.value, s.last_updated_at_ms
            FROM duroxide.kv_store AS s WITH (INDEX (ix_kv_store_instance))
            WHERE s.instance_id = @instance_id;

        -- gen:result Messages
        SELECT q.id, q.work_item
        FROM @messages AS m
        INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, id))) ON q.id = m.id
        WHERE q.instance_id = @instance_id
          AND q.lock_token = @lock_token
        ORDER BY q.id
        OPTION (KEEPFIXED PLAN);
    END;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.fetch_orchestration_item TO duroxide_runtime;
