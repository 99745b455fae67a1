-- Ends activities, each as ack_work_item does, and then takes a turn and the next activities, as
-- take does: activities that end at about the same time share one call. Those of one
-- instance are ended in one transaction (ack_instance_work), or one by one where that fails: a
-- failing activity prevents neither the end of the others nor the taking.
--
-- If there are several, one that has waited 150 ms for a lock fails, so that the rest do not wait
-- for a long transaction. ack_work_item waits for a second.
--
-- Called by: Store.AckWorkAndClaim.
-- Transaction: none. The end of each activity, or of those of an instance, commits by itself, and
--   so does each lock of take.
--
-- Parameters:
--   @acks         the activities with their completions, ended in the order of their positions
--   @turn_token, @turn_ms, @filtered, @min_major, @min_minor, @min_patch, @max_major,
--   @max_minor, @max_patch, @known, @unknown_ms, @history_limit, @peek, @from_head, @turn_due_from, @work,
--   @hasty        those of take
--
-- Result sets:
--   1 Refused: the positions in @acks of those that were not ended, each with the error; if there are any
--   2 Dropped, 3 Item, 4 History, 5 Values, 6 Messages, 7 Work, 8 Failure: those of take
--
-- Locks: those of ack_instance_work and ack_work_item, one instance or activity after the other,
--   and then those of take.
--
-- gen:embed duroxide.take
CREATE OR ALTER PROCEDURE duroxide.ack_work_and_take
    @acks          duroxide.completion_list_v1 READONLY,
    @turn          duroxide.turn_claim_v1 READONLY,
    @work          duroxide.take_list_v1 READONLY,
    @holder        NVARCHAR(200) = NULL
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @refused TABLE (
    position       INT            NOT NULL PRIMARY KEY,
    error_number   INT            NOT NULL,
    error_severity INT            NOT NULL,
    error_message  NVARCHAR(4000) NOT NULL
);
-- The instances of which several were ended together, or could not be.
DECLARE @tried TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY, ended BIT NOT NULL);
DECLARE @position INT = -1, @last INT = (SELECT MAX(a.position) FROM @acks AS a), @id BIGINT, @lock_token UNIQUEIDENTIFIER,
    @instance_id NVARCHAR(400), @work_item NVARCHAR(MAX), @several BIT, @ended BIT;
IF (SELECT COUNT(*) FROM @acks AS a) > 1
    SET LOCK_TIMEOUT 150;
WHILE @position < @last
BEGIN
    SELECT TOP (1) @position = a.position, @id = a.id, @lock_token = a.lock_token, @instance_id = a.instance_id, @work_item = a.work_item,
        @several = CASE
            WHEN EXISTS (SELECT 1 FROM @acks AS o WHERE o.instance_id = a.instance_id AND o.position > a.position)
                AND NOT EXISTS (SELECT 1 FROM @tried AS t WHERE t.instance_id = a.instance_id) THEN 1
            ELSE 0
        END
    FROM @acks AS a
    WHERE a.position > @position
      AND NOT EXISTS (SELECT 1 FROM @tried AS t WHERE t.instance_id = a.instance_id AND t.ended = 1)
    ORDER BY a.position;
    IF @@ROWCOUNT = 0
        BREAK;
    IF @several = 1
    BEGIN
        EXEC duroxide.ack_instance_work @acks = @acks, @instance_id = @instance_id, @ended = @ended OUTPUT;
        INSERT INTO @tried (instance_id, ended)
        VALUES (@instance_id, @ended);
        IF @ended = 1
            CONTINUE;
    END;
    BEGIN TRY
        EXEC duroxide.ack_work_item @id = @id, @lock_token = @lock_token, @instance_id = @instance_id, @work_item = @work_item;
    END TRY
    BEGIN CATCH
        -- vet:allow P5-swallow: the error is in a result set, as others may have been ended before
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        INSERT INTO @refused (position, error_number, error_severity, error_message)
        VALUES (@position, ERROR_NUMBER(), ERROR_SEVERITY(), ERROR_MESSAGE());
    END CATCH;
END;
SET LOCK_TIMEOUT -1;

IF EXISTS (SELECT 1 FROM @refused AS r)
    -- gen:result Refused
    SELECT r.position, r.error_number, r.error_severity, r.error_message
    FROM @refused AS r
    ORDER BY r.position;

EXEC duroxide.take @turn = @turn, @work = @work, @holder = @holder;
GO
GRANT EXECUTE ON duroxide.ack_work_and_take TO duroxide_runtime;
