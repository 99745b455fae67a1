-- Shows the events that the session of watch_deadlocks.sql has recorded, newest first. Needs VIEW SERVER
-- STATE.
--
-- Save the graph of a deadlock as a file that ends in .xdl, and open the file in Management Studio, which
-- draws it. Each process names its procedure and line, and each lock its index. Compare them with the
-- locks in the headers of the procedures.
WITH events AS (
    SELECT CONVERT(XML, f.event_data) AS event
    FROM sys.fn_xe_file_target_read_file(N'duroxide_watch*.xel', NULL, NULL, NULL) AS f
)
SELECT
    e.event.value('(/event/@timestamp)[1]', 'DATETIME2(3)') AS happened_at,
    e.event.value('(/event/@name)[1]', 'NVARCHAR(100)') AS event_name,
    e.event.value('(/event/action[@name="database_name"]/value)[1]', 'NVARCHAR(128)') AS database_name,
    -- The procedures that took part, the victim among them.
    e.event.query('distinct-values(/event/data/value/deadlock/process-list/process/executionStack/frame/@procname)') AS procedures,
    e.event.query('/event/data/value/deadlock') AS deadlock_graph,
    e.event.query('/event[@name != "xml_deadlock_report"]/data') AS details
FROM events AS e
ORDER BY happened_at DESC;
