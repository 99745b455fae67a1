-- only: sqlserver
--
-- How SQL Server stores and locks the tables. It changes nothing but speed.

-- From about 5,000 row locks of one statement on, the server takes the whole table
-- instead. Here that would stop everybody's claims for the sake of one turn with a wide
-- fan-out, and a lock on all of a queue is what READPAST cannot pass (rule Q5). Row
-- locks cost about 100 bytes each, so that even a turn of 100,000 locks is cheap.
-- Tables of which no statement locks thousands of rows keep the server's default.
ALTER TABLE duroxide.inboxes SET (LOCK_ESCALATION = DISABLE);
ALTER TABLE duroxide.orchestrator_queue SET (LOCK_ESCALATION = DISABLE);
ALTER TABLE duroxide.worker_queue SET (LOCK_ESCALATION = DISABLE);
-- A worker may have any number of sessions, and renews all of them in one statement.
ALTER TABLE duroxide.sessions SET (LOCK_ESCALATION = DISABLE);
-- One turn may append any number of events, and change any number of keys.
ALTER TABLE duroxide.history SET (LOCK_ESCALATION = DISABLE);
ALTER TABLE duroxide.kv_store SET (LOCK_ESCALATION = DISABLE);
ALTER TABLE duroxide.kv_delta SET (LOCK_ESCALATION = DISABLE);
GO

-- The rows of queues change thousands of times a second, so that their statistics would be
-- out of date, and everything that reads them be compiled anew, about once a second. Nothing
-- would come of it: the hints of each statement say how its rows are found. So the server
-- leaves the statistics of these indexes as they are. Those that it makes of single columns
-- it still renews; OPTION (KEEPFIXED PLAN) keeps the plans from that.
ALTER INDEX ALL ON duroxide.inboxes SET (STATISTICS_NORECOMPUTE = ON);
ALTER INDEX ALL ON duroxide.orchestrator_queue SET (STATISTICS_NORECOMPUTE = ON);
ALTER INDEX ALL ON duroxide.worker_queue SET (STATISTICS_NORECOMPUTE = ON);
ALTER INDEX ALL ON duroxide.sessions SET (STATISTICS_NORECOMPUTE = ON);
GO

-- Values of up to 8,000 bytes are stored in the row, unless the table is told
-- otherwise. For events, messages and keys that is best: they are read whole, once,
-- and together. So it is for instances, whose name every turn reads, and whose custom
-- status is a few words as a rule. But every turn reads and changes the rows of
-- executions without looking at the output, lists and counts read all of them, and a
-- long output in the row would make those pages few to a read. Out of the row it costs
-- one more read for the few that ask for it.
-- vet:allow P3-text: the migrator rewrites a literal that is the schema's name
DECLARE @executions NVARCHAR(300) = QUOTENAME(N'duroxide') + N'.[executions]';
EXEC sys.sp_tableoption @TableNamePattern = @executions, @OptionName = 'large value types out of row', @OptionValue = 'ON';
GO

-- Rows that arrive at one end of an index are written to its last page, for which all writers
-- wait. From SQL Server 2019 on, and on Azure, the server lets them in one by one, if it is told
-- which indexes these are. The servers before do not know the words, so that only a text of its
-- own can have them.
-- vet:allow P3-text: the migrator rewrites a literal that is the schema's name
DECLARE @schema NVARCHAR(300) = QUOTENAME(N'duroxide');
DECLARE @sequential NVARCHAR(MAX) = N'
    ALTER INDEX pk_worker_queue ON ' + @schema + N'.worker_queue SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON);
    ALTER INDEX ix_worker_queue_ready ON ' + @schema + N'.worker_queue SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON);
    ALTER INDEX ix_worker_queue_wake ON ' + @schema + N'.worker_queue SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON);
    ALTER INDEX ix_inboxes_ready ON ' + @schema + N'.inboxes SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON);
    ALTER INDEX ix_inboxes_wake ON ' + @schema + N'.inboxes SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON);';
IF CAST(SERVERPROPERTY(N'EngineEdition') AS INT) IN (5, 8) OR CAST(SERVERPROPERTY(N'ProductMajorVersion') AS INT) >= 15
    EXEC (@sequential);
