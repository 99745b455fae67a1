-- Claims the instance that has been ready longest, of the code and the versions that the worker has. If another call
-- claims a candidate first, the next one is tried. What others are writing at that moment is passed over; the next
-- call finds it. An instance that never began and has only queue messages is not claimed: its messages are deleted,
-- as nobody will read them (pitfall P3).
-- Helper of: take.
-- Transaction: none. Each try has its own.
-- Parameters:
--   @claim  the one row with turn = 1
--   @due    1 if the wake_at of some inbox has come
-- Result sets:
--   1 Dropped, 2 Item, 3 History, 4 Values, 5 Messages: those of take
-- Locks: code_names, known_code, known_code_names, framework_versions (shared, before the claim); inboxes (by
--   ready_due_inboxes; then the instance's row, by ix_inboxes_ready without a lock that stays, and by pk_inboxes),
--   orchestrator_queue (the instance's messages), instances (shared), history (shared).
-- Errors:
--   50014 unregistered_code: the set of names has to be registered first
-- gen:internal
-- vet:allow Q1: these looks take nothing; the update tests again that the instance is ready
CREATE OR ALTER PROCEDURE duroxide.claim_turn
    @claim  duroxide.turn_claim_v1 READONLY,
    @due    BIT,
    @holder NVARCHAR(200)
AS
-- An instance may be there twice, if more came for it meanwhile.
DECLARE @dropped TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL, messages BIGINT NOT NULL);
DECLARE @versions duroxide.version_id_list_v1, @codes duroxide.code_id_list_v1;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()), @began BIGINT, @ready_by BIGINT,
    @lock_token UNIQUEIDENTIFIER, @lock_ms BIGINT, @known VARBINARY(32), @known_id INT, @unnamed BIT, @unknown_ms BIGINT, @cancelled BIT,
    @from_head BIGINT, @due_from BIGINT, @more BIT = 0, @tries INT = 0, @candidate NVARCHAR(400), @instance_id NVARCHAR(400), @messages BIGINT,
    @due_until BIGINT, @looked_ms BIGINT, @code_id INT, @version_id INT, @cancel_id INT;
SELECT @began = @now, @cancel_id = n.id, @lock_token = c.lock_token, @lock_ms = c.lock_ms, @known = c.known, @unknown_ms = c.unknown_ms, @cancelled = c.cancelled,
    @from_head = c.from_head, @due_from = c.due_from, @unnamed = CASE WHEN c.known IS NULL THEN 1 ELSE 0 END,
    @ready_by = @now - CASE c.cancelled WHEN 1 THEN 0 ELSE c.unknown_ms END, @known_id = k.id
FROM @claim AS c
LEFT OUTER LOOP JOIN duroxide.known_code AS k WITH (INDEX (uq_known_code)) ON k.digest = c.known AND k.activity = 0 AND k.seen_at > @now - 20000
LEFT OUTER LOOP JOIN duroxide.code_names AS n WITH (INDEX (uq_code_names)) ON c.cancelled = 1 AND n.name = N'duroxide:cancel' AND n.version = N'';
-- Who has named its set in the last 20 seconds need not say so again.
IF @known IS NOT NULL AND (@known_id IS NULL OR @unknown_ms > 0)
    EXEC duroxide.get_known_code @digest = @known, @activity = 0, @always = 1, @now = @now, @known_id = @known_id OUTPUT;
IF @due = 1
    EXEC duroxide.ready_due_inboxes @now = @now, @due_from = @due_from, @more = @more OUTPUT;
INSERT INTO @versions (version_id)
SELECT f.id
FROM @claim AS c
INNER JOIN duroxide.framework_versions AS f WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK)
    ON c.filtered = 0
    OR ((f.major > c.min_major OR (f.major = c.min_major AND (f.minor > c.min_minor OR (f.minor = c.min_minor AND f.patch >= c.min_patch))))
        AND (f.major < c.max_major OR (f.major = c.max_major AND (f.minor < c.max_minor OR (f.minor = c.max_minor AND f.patch <= c.max_patch)))))
UNION ALL
SELECT 0;

WHILE @instance_id IS NULL AND @tries < 1000
BEGIN
    -- Without a set of names, all ready code but what other workers know; of what nobody knows, that alone.
    IF @known_id IS NULL OR @unknown_ms > 0
    BEGIN
        DELETE FROM @codes;
        SET @code_id = -1;
        WHILE @code_id IS NOT NULL
        BEGIN
            INSERT INTO @codes (code_id)
            VALUES (@code_id);
            SELECT @code_id = MIN(b.code_id)
            FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
            WHERE b.head_id IS NOT NULL AND b.code_id > @code_id
            OPTION (KEEPFIXED PLAN);
        END;
        DELETE c
        FROM @codes AS c
        WHERE EXISTS (
            SELECT 1
            FROM duroxide.known_codes(0, @now - CASE WHEN @unknown_ms > 0 THEN @unknown_ms ELSE 75000 END) AS k
            WHERE k.code_id = c.code_id
        )
           OR (@unknown_ms > 0 AND c.code_id <= 0);
    END;

    SELECT TOP (1) @candidate = h.instance_id, @code_id = c.code_id, @version_id = h.version_id
    FROM (
        SELECT 0 AS code_id
        WHERE @known_id IS NOT NULL AND @unknown_ms = 0
        UNION ALL
        SELECT k.code_id
        FROM duroxide.known_code_names AS k
        WHERE k.known_id = @known_id AND @unknown_ms = 0
        UNION ALL
        SELECT r.code_id
        FROM @codes AS r
    ) AS c
    CROSS APPLY (
        SELECT TOP (1) b.instance_id, b.version_id, b.head_id
        FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
        WHERE b.code_id = c.code_id AND b.head_id IS NOT NULL AND b.head_id >= @from_head
          AND b.version_id IN (SELECT v.version_id FROM @versions AS v)
          -- Always true. It reads the row, so that READPAST passes over one that somebody is writing.
          AND COALESCE(b.locked_until, 0) >= 0
          AND (
              @unknown_ms = 0
              OR (b.locked_until IS NULL OR b.locked_until <= @ready_by) AND EXISTS (
                  SELECT 1
                  FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT))) AS k (kind)
                  INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind, visible_at))) ON q.kind = k.kind
                  WHERE q.instance_id = b.instance_id AND q.visible_at <= @ready_by
                    AND (@cancelled = 0 OR q.code_id = @cancel_id)
              )
          )
        ORDER BY b.head_id
    ) AS h
    ORDER BY h.head_id
    OPTION (KEEPFIXED PLAN);
    IF @candidate IS NULL
    BEGIN
        IF @from_head = 0 AND @more = 0
            BREAK;
        IF @from_head = 0
            EXEC duroxide.ready_due_inboxes @now = @now, @due_from = 0, @more = @more OUTPUT;
        SET @from_head = 0;
        CONTINUE;
    END;

    SELECT @due_until = CASE @more WHEN 0 THEN @now ELSE @due_from END, @now = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()),
        @looked_ms = @now - @began, @tries = @tries + 1;
    EXEC duroxide.lock_turn @candidate = @candidate, @code_id = @code_id, @version_id = @version_id, @lock_token = @lock_token, @lock_ms = @lock_ms,
        @holder = @holder, @unnamed = @unnamed, @now = @now, @instance_id = @instance_id OUTPUT, @messages = @messages OUTPUT;
    IF @messages > 0
        INSERT INTO @dropped (instance_id, messages)
        VALUES (@candidate, @messages);
    IF @instance_id IS NULL
        SET @candidate = NULL;
END;

IF EXISTS (SELECT 1 FROM @dropped AS d)
    -- gen:result Dropped
    SELECT d.instance_id, d.messages
    FROM @dropped AS d;
IF @instance_id IS NOT NULL
    EXEC duroxide.read_turn @claim = @claim, @instance_id = @instance_id, @due_until = @due_until, @looked_ms = @looked_ms;
