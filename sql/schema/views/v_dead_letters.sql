-- Messages and activities that could not be decoded and were set aside, one row each,
-- for people and their tools. Times are UTC.
--
--   id             the order in which they were set aside
--   queue          orchestrator or worker
--   queue_id       the id of the row in that queue
--   instance_id    an id that ends in a blank has the character ␟ behind it
--   work_item      the text that could not be decoded
--   error          why the text could not be decoded
--   created_at     when the row was set aside
CREATE OR ALTER VIEW duroxide.v_dead_letters
AS
SELECT d.id, d.queue, d.queue_id, d.instance_id, d.work_item, d.error, c.utc AS created_at
FROM duroxide.dead_letters AS d
CROSS APPLY duroxide.utc_time(d.created_at) AS c;
GO
GRANT SELECT ON duroxide.v_dead_letters TO duroxide_reader;
