-- Finds the oldest ready activity of a session that the owner has or may claim, among tags and codes. It looks at the
-- first 20 activities of each tag and code. If all 20 of one belong to sessions of other owners, one of which may
-- have a very long queue, it looks at each session once.
-- Helper of: fetch_work_item.
-- Transaction: none. It is called before the one in which the activity is claimed.
-- Parameters:
--   @owner       who would have the session; NULL for sessions of anybody
--   @now         the present time, in milliseconds since 1970 UTC
--   @codes       tags and codes to look at
--   @from_id     leaves lower ids out of the first 20
--   @ready_by    only what has been neither hidden nor leased since, in milliseconds since 1970 UTC
--   @id          the activity; NULL for none
--   @session_id  its session, which has to be claimed; NULL without an owner
-- Locks: worker_queue (by ix_worker_queue_ready_session and ix_worker_queue_session), sessions (shared, by
--   pk_sessions). Nothing stays locked.
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.find_session_work
    @owner      NVARCHAR(400),
    @now        BIGINT,
    @codes      duroxide.work_code_list_v1 READONLY,
    @from_id    BIGINT,
    @ready_by   BIGINT,
    @id         BIGINT OUTPUT,
    @session_id NVARCHAR(400) OUTPUT
AS
DECLARE @first TABLE (id BIGINT NOT NULL PRIMARY KEY, session_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    tag NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL, code_id INT NOT NULL, mine BIT NOT NULL);
DECLARE @at NVARCHAR(400) = N'';
SELECT @id = NULL, @session_id = NULL;
INSERT INTO @first (id, session_id, tag, code_id, mine)
SELECT f.id, f.session_id, c.tag, c.code_id, CASE WHEN EXISTS (
    SELECT 1 FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, FORCESEEK (pk_sessions (session_id)))
    WHERE s.session_id = f.session_id AND s.locked_until > @now AND s.worker_id <> @owner
) THEN 0 ELSE 1 END
FROM @codes AS c
CROSS APPLY (
    SELECT TOP (20) q.id, q.session_id
    -- vet:allow Q1: it only looks; the claim tests again that the activity is ready
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
    WHERE q.ready = 1 AND q.session_id IS NOT NULL AND q.tag = c.tag AND q.code_id = c.code_id AND q.id >= @from_id
      -- Columns of the row, as in fetch_work_item.
      AND q.visible_at <= @ready_by AND COALESCE(q.locked_until, 0) <= @ready_by
    ORDER BY q.id
) AS f
OPTION (LOOP JOIN, KEEPFIXED PLAN);
SELECT TOP (1) @id = f.id, @session_id = CASE WHEN @owner IS NOT NULL THEN f.session_id END FROM @first AS f WHERE f.mine = 1 ORDER BY f.id;
IF NOT EXISTS (
    SELECT 1 FROM @first AS f
    GROUP BY f.tag, f.code_id
    HAVING COUNT(*) = 20 AND MAX(CAST(f.mine AS INT)) = 0 AND (@id IS NULL OR MAX(f.id) < @id)
)
    RETURN;

WHILE @at IS NOT NULL
BEGIN
    SET @at = (
        SELECT TOP (1) q.session_id
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_session))
        WHERE q.ready = 1 AND q.session_id IS NOT NULL AND q.session_id > @at
        ORDER BY q.session_id
    );
    SELECT TOP (1) @id = q.id, @session_id = @at
    -- vet:allow Q1: it only looks; the claim tests again that the activity is ready
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_session))
    WHERE q.session_id = @at AND q.session_id IS NOT NULL AND q.ready = 1 AND (@id IS NULL OR q.id < @id)
      AND EXISTS (SELECT 1 FROM @codes AS c WHERE c.tag = q.tag AND c.code_id = q.code_id)
      AND NOT EXISTS (
          SELECT 1 FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, FORCESEEK (pk_sessions (session_id)))
          WHERE s.session_id = @at AND s.locked_until > @now AND s.worker_id <> @owner
      )
    ORDER BY q.id
    OPTION (LOOP JOIN, KEEPFIXED PLAN);
END;
