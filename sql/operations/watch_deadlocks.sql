-- Watches the server for events that the store should not cause: deadlocks, lock escalations, and
-- statements that are compiled again. The server writes each event to a file.
--
-- Run this script once, with a login that has ALTER ANY EVENT SESSION on the server (SQL Server 2016 and
-- later). The session starts again with the server. read_deadlocks.sql shows the events. To end the
-- session:
--
--     DROP EVENT SESSION duroxide_watch ON SERVER;
--
-- In Azure SQL Database a session belongs to a database. Replace ON SERVER with ON DATABASE,
-- sqlserver.xml_deadlock_report with sqlserver.database_xml_deadlock_report, and the file with ADD TARGET
-- package0.ring_buffer.
--
-- The session keeps at most four files of 20 MB. A deadlock's graph holds the text of the statements, but
-- not the parameters of the procedures.
CREATE EVENT SESSION duroxide_watch ON SERVER
ADD EVENT sqlserver.xml_deadlock_report,
-- Escalation is off for the tables of which one statement may lock thousands of rows, so an event is about
-- another table.
ADD EVENT sqlserver.lock_escalation (
    ACTION (sqlserver.database_name, sqlserver.sql_text)
),
-- More than a few events a minute in one procedure mean a plan that changes under load.
ADD EVENT sqlserver.sql_statement_recompile (
    ACTION (sqlserver.database_name)
    WHERE source_database_id > 4
)
ADD TARGET package0.event_file (
    SET filename = N'duroxide_watch', max_file_size = 20, max_rollover_files = 4
)
WITH (MAX_DISPATCH_LATENCY = 5 SECONDS, EVENT_RETENTION_MODE = ALLOW_MULTIPLE_EVENT_LOSS, STARTUP_STATE = ON);

ALTER EVENT SESSION duroxide_watch ON SERVER STATE = START;
