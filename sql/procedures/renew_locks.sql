-- Renews the leases of turns and activities, each as renew_orchestration_item_lock and
-- renew_work_item_lock do (§5.24). Each is a transaction of its own, so that one that is lost keeps no
-- other from being renewed.
--
-- Result sets:
--   1 Lost: those that were not renewed, with the number of the error
--
-- Locks: those of the two procedures, one lease after the other.
-- vet:allow P6-errors: what it throws is no error of its own
CREATE OR ALTER PROCEDURE duroxide.renew_locks
    @locks duroxide.lease_list_v1 READONLY
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @lost TABLE (position INT NOT NULL PRIMARY KEY, error_number INT NOT NULL);
DECLARE @position INT = -1, @lock_token UNIQUEIDENTIFIER, @turn BIT, @extend_ms BIGINT;
SELECT @position = MIN(l.position) FROM @locks AS l;
WHILE @position IS NOT NULL
BEGIN
    SELECT @lock_token = l.lock_token, @turn = l.turn, @extend_ms = l.extend_ms
    FROM @locks AS l
    WHERE l.position = @position;
    BEGIN TRY
        IF @turn = 1
            EXEC duroxide.renew_orchestration_item_lock @lock_token = @lock_token, @extend_ms = @extend_ms;
        ELSE
            EXEC duroxide.renew_work_item_lock @lock_token = @lock_token, @extend_ms = @extend_ms;
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        IF ERROR_NUMBER() NOT IN (50010, 50011)
            THROW;
        INSERT INTO @lost (position, error_number)
        VALUES (@position, ERROR_NUMBER());
    END CATCH;
    SELECT @position = MIN(l.position) FROM @locks AS l WHERE l.position > @position;
END;

-- gen:result Lost
SELECT l.position, l.error_number
FROM @lost AS l
ORDER BY l.position;
