-- Finds the instance with the oldest head that has been fetchable since @since or longer
-- and whose code nobody has known for as long. What somebody is writing is left to them.
--
-- Locks: inboxes.
-- Hints: READPAST, READCOMMITTEDLOCK, ROWLOCK and INDEX are those of the look of find_turn;
-- nothing is kept locked. LOOP finds the message of each instance by a seek.
-- KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
CREATE OR ALTER PROCEDURE duroxide.find_unknown_turn
    @versions    duroxide.version_id_list_v1 READONLY,
    @codes       duroxide.code_id_list_v1 READONLY,
    @since       BIGINT,
    @instance_id NVARCHAR(400) OUTPUT,
    @version_id  INT OUTPUT,
    @code_id     INT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET @instance_id = NULL;
SELECT TOP (1) @instance_id = h.instance_id, @version_id = v.version_id, @code_id = c.code_id
FROM duroxide.unknown_codes(0, @since) AS u
INNER JOIN @codes AS c ON c.code_id = u.code_id
CROSS JOIN @versions AS v
CROSS APPLY (
    SELECT TOP (1) b.instance_id, b.head_id
    -- vet:allow Q1: a look; the claim repeats its condition
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
    INNER LOOP JOIN duroxide.orchestrator_queue AS q ON q.instance_id = b.instance_id AND q.id = b.head_id
    WHERE b.code_id = c.code_id
      AND b.version_id = v.version_id
      AND b.head_id IS NOT NULL
      AND COALESCE(b.locked_until, 0) <= @since
      AND q.visible_at <= @since
    ORDER BY b.head_id
) AS h
ORDER BY h.head_id
OPTION (KEEPFIXED PLAN);
