-- Counts the messages that are not visible yet: timers, and what was handed back with a
-- pause. They are no waiting work, though get_queue_depths counts them.
--
-- Result sets:
--   1 Hidden: how many there are
CREATE OR ALTER PROCEDURE duroxide.count_hidden_messages
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
-- gen:result Hidden
SELECT COUNT_BIG(*) AS messages
FROM duroxide.orchestrator_queue AS q
WHERE q.visible_at > @now;
