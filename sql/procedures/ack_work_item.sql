-- Ends activities and sends their completions, and then claims a turn and the next activities, as take does:
-- activities that end at about the same time share one call. Those of one instance end in one transaction, all or
-- none. If that fails, they are ended one by one, so that each outcome is known. An error does not reach the caller,
-- which may have ended others before: it is returned as a result set.
-- Called by: Store.AckWorkItem, Store.AckWorkAndClaim.
-- Transaction: none. The activities of each instance have one (end_work), and each claim.
-- Parameters:
--   @turn, @work, @holder
--         those of take
-- Result sets:
--   1 Refused: the activities that were not ended, with the error of each
--   2 Dropped, 3 Item, 4 History, 5 Values, 6 Messages, 7 Work, 8 Failure: those of take
-- Locks: those of end_work, one instance after the other, then those of take. A wait for a lock ends with error 1222
--   after a second, or after 150 ms if the call has several acknowledgements (LOCK_TIMEOUT, see README.md).
-- gen:embed duroxide.take
CREATE OR ALTER PROCEDURE duroxide.ack_work_item
    @acks   duroxide.completion_list_v1 READONLY,
    @turn   duroxide.turn_claim_v1 READONLY,
    @work   duroxide.take_list_v1 READONLY,
    @holder NVARCHAR(200) = NULL
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @left TABLE (position INT NOT NULL PRIMARY KEY, instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NULL, alone BIT NOT NULL);
DECLARE @refused TABLE (position INT NOT NULL PRIMARY KEY, error_number INT NOT NULL, error_severity INT NOT NULL, error_message NVARCHAR(4000) NOT NULL);
DECLARE @position INT, @instance_id NVARCHAR(400), @alone BIT;
INSERT INTO @left (position, instance_id, alone)
SELECT a.position, a.instance_id, CASE WHEN COUNT(*) OVER (PARTITION BY a.instance_id) = 1 OR a.instance_id IS NULL THEN 1 ELSE 0 END
FROM @acks AS a;
IF @@ROWCOUNT > 1
    SET LOCK_TIMEOUT 150;
ELSE
    SET LOCK_TIMEOUT 1000;
WHILE EXISTS (SELECT 1 FROM @left AS l)
BEGIN
    SELECT TOP (1) @position = l.position, @instance_id = l.instance_id, @alone = l.alone
    FROM @left AS l
    ORDER BY l.position;
    BEGIN TRY
        EXEC duroxide.end_work @acks = @acks, @position = @position, @instance_id = @instance_id, @alone = @alone;
        DELETE FROM @left
        WHERE position = @position
           OR (@alone = 0 AND instance_id = @instance_id);
    END TRY
    BEGIN CATCH
        -- vet:allow P5-swallow: the error is in a result set, as others may have been ended before
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        IF @alone = 1
        BEGIN
            INSERT INTO @refused (position, error_number, error_severity, error_message)
            VALUES (@position, ERROR_NUMBER(), ERROR_SEVERITY(), ERROR_MESSAGE());
            DELETE FROM @left
            WHERE position = @position;
        END;
        UPDATE @left
        SET alone = 1
        WHERE instance_id = @instance_id;
    END CATCH;
END;
IF EXISTS (SELECT 1 FROM @refused AS r)
    -- gen:result Refused
    SELECT r.position, r.error_number, r.error_severity, r.error_message
    FROM @refused AS r
    ORDER BY r.position;

EXEC duroxide.take @turn = @turn, @work = @work, @holder = @holder;
GO
GRANT EXECUTE ON duroxide.ack_work_item TO duroxide_runtime;
