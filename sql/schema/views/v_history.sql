-- Events, one row each, for people and their tools. Sort by execution_id and event_id
-- to read a history. Times are UTC.
--
--   instance_id   an id that ends in a blank has the character ␟ behind it
--   execution_id  from 1
--   event_id      from 1 in each execution
--   event_type    such as ActivityScheduled
--   event_data    the event, as JSON
--   data_bytes    the length of event_data in UTF-8
--   created_at    when the event was stored
CREATE OR ALTER VIEW duroxide.v_history
AS
SELECT
    h.instance_id,
    h.execution_id,
    h.event_id,
    h.event_type,
    h.event_data,
    h.data_bytes,
    c.utc AS created_at
FROM duroxide.history AS h
CROSS APPLY duroxide.utc_time(h.created_at) AS c;
GO
GRANT SELECT ON duroxide.v_history TO duroxide_reader;
