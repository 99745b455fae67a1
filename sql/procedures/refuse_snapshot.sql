-- Refuses the caller's transaction if it is under SNAPSHOT.
-- Helper of: enqueue_for_orchestrator, start_instance.
-- Transaction: the caller's.
-- Errors:
--   50001 snapshot_transaction: the caller's transaction is under SNAPSHOT, to which the server may not let it return
--         from a procedure that changes the level (error 3951)
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.refuse_snapshot
AS
IF EXISTS (
    SELECT 1 FROM sys.dm_exec_sessions AS s WHERE s.session_id = @@SPID
      AND s.transaction_isolation_level = 5
)
    THROW 50001, N'The transaction is under SNAPSHOT: begin it under READ COMMITTED, REPEATABLE READ or SERIALIZABLE.', 1;
