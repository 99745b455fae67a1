-- Lists the tags and codes of ready activities, with sessions and without: one seek in the index of each kind for
-- each tag and for each code of a tag, however many activities there are.
-- Helper of: work_codes.
-- Parameters:
--   @tag  the tag to look at; NULL for all
-- Returns: each tag with each of its codes, as code_names.id.
-- Locks: worker_queue (by ix_worker_queue_ready and ix_worker_queue_ready_session, shared, while it reads; what
--   others are writing is passed over).
CREATE OR ALTER FUNCTION duroxide.ready_work (@tag NVARCHAR(400))
RETURNS @codes TABLE (tag NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL, code_id INT NOT NULL, PRIMARY KEY (tag, code_id))
AS
BEGIN
    DECLARE @at NVARCHAR(400) = COALESCE(@tag, N''), @code_id INT = -1, @next NVARCHAR(400);
    WHILE @at IS NOT NULL
    BEGIN
        SELECT @code_id = MIN(n.code_id)
        FROM (
            SELECT MIN(q.code_id) AS code_id
            -- vet:allow Q1: it only looks, and takes nothing
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1 AND q.session_id IS NULL AND q.tag = @at AND q.code_id > @code_id
            UNION ALL
            SELECT MIN(q.code_id) AS code_id
            -- vet:allow Q1: it only looks, and takes nothing
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
            WHERE q.ready = 1 AND q.session_id IS NOT NULL AND q.tag = @at AND q.code_id > @code_id
        ) AS n
        OPTION (KEEPFIXED PLAN);
        IF @code_id IS NOT NULL
            INSERT INTO @codes (tag, code_id)
            VALUES (@at, @code_id);
        ELSE IF @tag IS NOT NULL
            BREAK;
        ELSE
        BEGIN
            SELECT @code_id = -1, @next = NULL;
            SELECT @next = MIN(n.tag)
            FROM (
                SELECT MIN(q.tag) AS tag
                -- vet:allow Q1: it only looks, and takes nothing
                FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
                WHERE q.ready = 1 AND q.session_id IS NULL AND q.tag > @at
                UNION ALL
                SELECT MIN(q.tag) AS tag
                -- vet:allow Q1: it only looks, and takes nothing
                FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
                WHERE q.ready = 1 AND q.session_id IS NOT NULL AND q.tag > @at
            ) AS n
            OPTION (KEEPFIXED PLAN);
            SET @at = @next;
        END;
    END;
    RETURN;
END;
