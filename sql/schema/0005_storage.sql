-- How SQL Server stores and locks the tables. These settings change speed, not results.

-- A statement that takes about 5,000 row locks makes the server lock the whole table
-- instead. Here one turn with a wide fan-out would stop everybody's claims, since READPAST
-- cannot skip a lock on the whole table. Row locks cost about 100 bytes each, so
-- even a turn of 100,000 locks is cheap. Tables of which no statement locks thousands of
-- rows keep the server's default.
ALTER TABLE duroxide.inboxes SET (LOCK_ESCALATION = DISABLE);
ALTER TABLE duroxide.orchestrator_queue SET (LOCK_ESCALATION = DISABLE);
ALTER TABLE duroxide.worker_queue SET (LOCK_ESCALATION = DISABLE);
-- A worker may have any number of sessions, and renews all of them in one statement.
ALTER TABLE duroxide.sessions SET (LOCK_ESCALATION = DISABLE);
-- One turn may append any number of events, and change any number of keys.
ALTER TABLE duroxide.history SET (LOCK_ESCALATION = DISABLE);
ALTER TABLE duroxide.kv_store SET (LOCK_ESCALATION = DISABLE);
ALTER TABLE duroxide.kv_delta SET (LOCK_ESCALATION = DISABLE);
-- A deletion takes any number of these with an instance.
ALTER TABLE duroxide.instances SET (LOCK_ESCALATION = DISABLE);
ALTER TABLE duroxide.executions SET (LOCK_ESCALATION = DISABLE);
ALTER TABLE duroxide.dead_letters SET (LOCK_ESCALATION = DISABLE);
GO

-- The rows of queues change thousands of times a second. The server would renew their
-- statistics, and compile every statement that reads them again, about once a second. The new
-- plans would be the old ones: the hints of each statement say how its rows are found. So the
-- server is told to leave the statistics of these indexes as they are. The server still renews
-- its statistics of single columns; OPTION (KEEPFIXED PLAN) keeps them from causing new plans.
ALTER INDEX ALL ON duroxide.inboxes SET (STATISTICS_NORECOMPUTE = ON);
ALTER INDEX ALL ON duroxide.orchestrator_queue SET (STATISTICS_NORECOMPUTE = ON);
ALTER INDEX ALL ON duroxide.worker_queue SET (STATISTICS_NORECOMPUTE = ON);
ALTER INDEX ALL ON duroxide.sessions SET (STATISTICS_NORECOMPUTE = ON);
GO

-- The server stores values of up to 8,000 bytes in the row by default. The default is best
-- for events, messages and keys, which are read whole, once, and together. It is also best for
-- instances: every turn reads their names, and a custom status is usually a few words.
-- Executions are different. Every turn reads and changes their rows without looking at the
-- output, and lists and counts read all rows. Long outputs in the rows would spread them over
-- many pages. Outside the row, an output costs one more read for callers that ask for it.
-- vet:allow P3-text: the migrator rewrites a literal that is the schema's name
DECLARE @executions NVARCHAR(300) = QUOTENAME(N'duroxide') + N'.[executions]';
EXEC sys.sp_tableoption @TableNamePattern = @executions, @OptionName = 'large value types out of row', @OptionValue = 'ON';
GO

-- Rows that arrive at one end of an index are written to its last page, for which all writers
-- compete. SQL Server 2019 and later, and Azure SQL, can let the writers in one by one, if they
-- are told for which indexes. Earlier servers do not know the option and would refuse a script
-- that contains it, so the statements are a text that only newer servers execute.
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
