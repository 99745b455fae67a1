-- Watches the server for what should not happen to the store: deadlocks, lock escalations, and
-- statements that are compiled again. Each is written to a file with the statement that it met.
--
-- Run it once, as somebody with ALTER ANY EVENT SESSION on the server (SQL Server 2016 and later). It
-- goes on after a restart. read_deadlocks.sql shows what came; to end it:
--
--     DROP EVENT SESSION duroxide_watch ON SERVER;
--
-- Azure SQL Database has sessions of a database: there write ON DATABASE for ON SERVER,
-- sqlserver.database_xml_deadlock_report for sqlserver.xml_deadlock_report, and ADD TARGET
-- package0.ring_buffer for the file.
--
-- The size is bounded: four files of 20 MB. A deadlock's graph holds the text of the statements, and no
-- parameters of the procedures.
CREATE EVENT SESSION duroxide_watch ON SERVER
ADD EVENT sqlserver.xml_deadlock_report,
-- Escalation is off for the store's tables. One that comes all the same is of another table.
ADD EVENT sqlserver.lock_escalation (
    ACTION (sqlserver.database_name, sqlserver.sql_text)
),
-- More than a few a minute in one procedure is a plan that changes under load.
ADD EVENT sqlserver.sql_statement_recompile (
    ACTION (sqlserver.database_name)
    WHERE source_database_id > 4
)
ADD TARGET package0.event_file (
    SET filename = N'duroxide_watch', max_file_size = 20, max_rollover_files = 4
)
WITH (MAX_DISPATCH_LATENCY = 5 SECONDS, EVENT_RETENTION_MODE = ALLOW_MULTIPLE_EVENT_LOSS, STARTUP_STATE = ON);

ALTER EVENT SESSION duroxide_watch ON SERVER STATE = START;
