-- Counts the messages that are not visible yet: timers, and messages that were given back with a delay.
-- get_queue_depths counts them as well, although they are not waiting work.
-- Called by: Store.CountHiddenMessages.
-- Transaction: none.
-- Result sets:
--   1 Hidden: how many messages
-- Locks: orchestrator_queue (read, by pk_orchestrator_queue alone).
CREATE OR ALTER PROCEDURE duroxide.count_hidden_messages
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
-- gen:result Hidden
SELECT COUNT_BIG(*) AS messages
FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
WHERE q.visible_at > @now
OPTION (KEEPFIXED PLAN);
GO
GRANT EXECUTE ON duroxide.count_hidden_messages TO duroxide_reader;
