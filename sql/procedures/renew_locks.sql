-- Renews the leases of turns and activities, each as renew_orchestration_item_lock and renew_work_item_lock do. A
-- lost lease does not prevent the renewal of the others. If there are several, the first that waits for a lock fails
-- with error 1222 after 150 ms, and those after it at once. The other leases do not end while a long transaction has
-- the rows of some, however many. The two procedures wait for a second.
-- Called by: Store.RenewLocks.
-- Transaction: none. Each renewal commits by itself.
-- Parameters:
--   @locks  the leases, and for how long each is renewed, in milliseconds
-- Result sets:
--   1 Lost: the positions in @locks of those that were not renewed, each with the number of the error
-- Locks: those of the two procedures, one lease after the other.
-- Errors:
--   none
CREATE OR ALTER PROCEDURE duroxide.renew_locks
    @locks duroxide.lease_list_v1 READONLY
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @lost TABLE (position INT NOT NULL PRIMARY KEY, error_number INT NOT NULL);
DECLARE @position INT, @id BIGINT, @instance_id NVARCHAR(400), @lock_token UNIQUEIDENTIFIER, @turn BIT, @extend_ms BIGINT;
IF (SELECT COUNT(*) FROM @locks AS l) > 1
    SET LOCK_TIMEOUT 150;
SELECT @position = MIN(l.position) FROM @locks AS l;
WHILE @position IS NOT NULL
BEGIN
    SELECT @id = l.id, @instance_id = l.instance_id, @lock_token = l.lock_token, @turn = l.turn, @extend_ms = l.extend_ms
    FROM @locks AS l
    WHERE l.position = @position;
    BEGIN TRY
        IF @turn = 1
            EXEC duroxide.renew_orchestration_item_lock @instance_id = @instance_id, @lock_token = @lock_token, @extend_ms = @extend_ms;
        ELSE
            EXEC duroxide.renew_work_item_lock @id = @id, @lock_token = @lock_token, @extend_ms = @extend_ms;
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        IF ERROR_NUMBER() NOT IN (50010, 50011, 1222)
            THROW;
        IF ERROR_NUMBER() = 1222
            SET LOCK_TIMEOUT 1;
        INSERT INTO @lost (position, error_number)
        VALUES (@position, ERROR_NUMBER());
    END CATCH;
    SELECT @position = MIN(l.position) FROM @locks AS l WHERE l.position > @position;
END;
SET LOCK_TIMEOUT -1;

-- gen:result Lost
SELECT l.position, l.error_number
FROM @lost AS l
ORDER BY l.position;
GO
GRANT EXECUTE ON duroxide.renew_locks TO duroxide_runtime;
