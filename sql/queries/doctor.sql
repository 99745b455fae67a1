-- Queries of `duroxide doctor`, which examines the server, the database and the login. If a server
-- lacks what a query asks for, it returns an error, and the doctor reports that as a finding.

-- GetServerVersion reads edition and version of the server.
-- name: GetServerVersion :one
SELECT
    CONVERT(NVARCHAR(400), SERVERPROPERTY('Edition')) AS edition,
    CONVERT(NVARCHAR(128), SERVERPROPERTY('ProductVersion')) AS product_version,
    CONVERT(INT, SERVERPROPERTY('EngineEdition')) AS engine_edition;

-- GetCompatibilityLevel reads the database's level, such as 160.
-- name: GetCompatibilityLevel :one
SELECT d.name, CONVERT(BIGINT, d.compatibility_level) AS value FROM sys.databases AS d WHERE d.name = DB_NAME();

-- GetRowVersioning reads whether READ COMMITTED uses row versions in the database (1).
-- name: GetRowVersioning :one
SELECT d.name, CONVERT(BIGINT, d.is_read_committed_snapshot_on) AS value FROM sys.databases AS d WHERE d.name = DB_NAME();

-- GetDelayedDurability reads whether the server may confirm a commit before it is on disk: 0 never,
-- 1 if a transaction asks for it, 2 always.
-- name: GetDelayedDurability :one
SELECT d.name, CONVERT(BIGINT, d.delayed_durability) AS value FROM sys.databases AS d WHERE d.name = DB_NAME();

-- GetAutoClose reads whether the server closes the database when nobody is connected (1).
-- name: GetAutoClose :one
SELECT d.name, CONVERT(BIGINT, d.is_auto_close_on) AS value FROM sys.databases AS d WHERE d.name = DB_NAME();

-- GetAutoShrink reads whether the server shrinks the files of the database (1).
-- name: GetAutoShrink :one
SELECT d.name, CONVERT(BIGINT, d.is_auto_shrink_on) AS value FROM sys.databases AS d WHERE d.name = DB_NAME();

-- GetQueryStore reads whether the server records what statements cost (1).
-- name: GetQueryStore :one
SELECT d.name, CONVERT(BIGINT, d.is_query_store_on) AS value FROM sys.databases AS d WHERE d.name = DB_NAME();

-- GetOptimizedLocking reads whether a transaction keeps one lock for all rows that it has changed (1); NULL from a
-- server that has no such option.
-- name: GetOptimizedLocking :one
SELECT d.name, CONVERT(BIGINT, DATABASEPROPERTYEX(d.name, 'IsOptimizedLockingOn')) AS value
FROM sys.databases AS d
WHERE d.name = DB_NAME();

-- ListRecomputedQueues lists the queue tables whose index statistics the server renews by itself
-- (0005_storage.sql says why it should not), with the number of those indexes.
-- name: ListRecomputedQueues :many
SELECT t.name, COUNT(*) AS indexes
FROM sys.tables AS t
INNER JOIN sys.indexes AS i ON i.object_id = t.object_id
INNER JOIN sys.stats AS s ON s.object_id = i.object_id AND s.stats_id = i.index_id
WHERE t.schema_id = SCHEMA_ID(@schema)
  AND t.name IN (N'inboxes', N'orchestrator_queue', N'worker_queue', N'sessions')
  AND s.no_recompute = 0
GROUP BY t.name
ORDER BY t.name;

-- ListUnsequencedIndexes lists the indexes whose rows arrive at one end and that lack OPTIMIZE_FOR_SEQUENTIAL_KEY
-- (0005_storage.sql). A server before SQL Server 2019 does not know the column.
-- name: ListUnsequencedIndexes :many
SELECT t.name AS table_name, i.name AS index_name
FROM sys.tables AS t
INNER JOIN sys.indexes AS i ON i.object_id = t.object_id
WHERE t.schema_id = SCHEMA_ID(@schema)
  AND i.name IN (N'pk_worker_queue', N'ix_worker_queue_ready', N'ix_worker_queue_wake', N'ix_inboxes_ready', N'ix_inboxes_wake')
  AND i.name IS NOT NULL AND i.optimize_for_sequential_key = 0
ORDER BY t.name, i.name;

-- ListEscalatingTables lists the tables of which one statement may lock thousands of rows and for which lock escalation
-- is on (0005_storage.sql).
-- name: ListEscalatingTables :many
SELECT t.name, t.lock_escalation_desc AS escalation
FROM sys.tables AS t
WHERE t.schema_id = SCHEMA_ID(@schema)
  AND t.name IN (N'inboxes', N'orchestrator_queue', N'worker_queue', N'sessions', N'history', N'kv_store', N'kv_delta',
      N'instances', N'executions', N'dead_letters')
  AND t.lock_escalation_desc <> N'DISABLE'
ORDER BY t.name;

-- ListCompressedQueues lists the queue tables with compressed indexes, with the number of those indexes and the kind of
-- compression.
-- name: ListCompressedQueues :many
SELECT t.name, COUNT(*) AS indexes, MIN(p.data_compression_desc) AS compression
FROM sys.tables AS t
INNER JOIN sys.partitions AS p ON p.object_id = t.object_id
WHERE t.schema_id = SCHEMA_ID(@schema)
  AND t.name IN (N'inboxes', N'orchestrator_queue', N'worker_queue', N'sessions')
  AND p.data_compression <> 0
GROUP BY t.name
ORDER BY t.name;

-- GetLedger reads whether every table of the database is a ledger table (1). A server before SQL Server 2022 does not
-- know the column.
-- name: GetLedger :one
SELECT d.name, CONVERT(BIGINT, d.is_ledger_on) AS value FROM sys.databases AS d WHERE d.name = DB_NAME();

-- GetUpdateability reads whether the database is READ_WRITE or READ_ONLY; NULL from a server that does not know.
-- name: GetUpdateability :one
SELECT CONVERT(NVARCHAR(128), DATABASEPROPERTYEX(DB_NAME(), 'Updateability')) AS updateability;

-- GetPermissions reads who is logged in, and what the login may do in the schema, whose name is
-- quoted: 1 for yes, 0 for no, NULL if the object or role does not exist. may_read, may_work and
-- may_delete each ask for one procedure of a role.
-- gen:param @schema nvarchar(258)
-- name: GetPermissions :one
SELECT
    SUSER_SNAME() AS login_name, USER_NAME() AS user_name,
    HAS_PERMS_BY_NAME(@schema + N'.list_instances', N'OBJECT', 'EXECUTE') AS may_read,
    HAS_PERMS_BY_NAME(@schema + N'.take', N'OBJECT', 'EXECUTE') AS may_work,
    HAS_PERMS_BY_NAME(@schema + N'.delete_trees', N'OBJECT', 'EXECUTE') AS may_delete,
    HAS_PERMS_BY_NAME(@schema, 'SCHEMA', 'VIEW DEFINITION') AS may_view_definition,
    IS_ROLEMEMBER(@role) AS in_role;

-- ReadClock reads the server's clock, in milliseconds since 1970 UTC (rule T2).
-- name: ReadClock :one
SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS unix_milliseconds;

-- GetMaxConnections reads how many connections the server accepts.
-- name: GetMaxConnections :one
SELECT CONVERT(BIGINT, @@MAX_CONNECTIONS) AS connections;

-- HasInstances reads whether a schema has the table of instances (1). A schema whose migration was
-- interrupted may have none (0).
-- name: HasInstances :one
SELECT COUNT(*) AS tables FROM sys.tables AS t WHERE t.schema_id = SCHEMA_ID(@schema) AND t.name = N'instances';

-- CountInstances counts the instances.
-- name: CountInstances :one
SELECT COUNT_BIG(*) AS instances FROM duroxide.instances AS i;
