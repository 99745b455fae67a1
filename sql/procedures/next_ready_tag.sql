-- Finds the least tag of a ready activity that is greater than @tag, or the least of
-- all if @tag is NULL: one seek in the index of either kind of activity. A worker that
-- takes any tag lists them with it. NULL is the end.
CREATE OR ALTER PROCEDURE duroxide.next_ready_tag
    @tag NVARCHAR(400) OUTPUT
AS
SET NOCOUNT ON;
IF @tag IS NULL
    SELECT @tag = MIN(m.tag)
    FROM (
        SELECT MIN(q.tag) AS tag
        FROM duroxide.worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NULL
        UNION ALL
        SELECT MIN(q.tag) AS tag
        FROM duroxide.worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
    ) AS m;
ELSE
    SELECT @tag = MIN(m.tag)
    FROM (
        SELECT MIN(q.tag) AS tag
        FROM duroxide.worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag > @tag
        UNION ALL
        SELECT MIN(q.tag) AS tag
        FROM duroxide.worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag > @tag
    ) AS m;
