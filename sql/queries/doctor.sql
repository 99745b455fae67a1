-- Reads of `duroxide doctor`, which examines the server, the database and the login. A server
-- that does not have what is asked for returns an error, which is a finding of its own.

-- GetServerVersion tells what the server is. Babelfish is told by the banner: its properties are
-- those of the SQL Server that it resembles.
-- name: GetServerVersion :one
SELECT
    CONVERT(NVARCHAR(400), SERVERPROPERTY('Edition')) AS edition,
    CONVERT(NVARCHAR(128), SERVERPROPERTY('ProductVersion')) AS product_version,
    CONVERT(INT, SERVERPROPERTY('EngineEdition')) AS engine_edition,
    CONVERT(NVARCHAR(MAX), @@VERSION) AS banner;

-- GetCompatibilityLevel reads the database's level, such as 160.
-- name: GetCompatibilityLevel :one
SELECT d.name, CONVERT(BIGINT, d.compatibility_level) AS value FROM sys.databases AS d WHERE d.database_id = DB_ID();

-- GetRowVersioning tells whether READ COMMITTED reads row versions in the database (1).
-- name: GetRowVersioning :one
SELECT d.name, CONVERT(BIGINT, d.is_read_committed_snapshot_on) AS value FROM sys.databases AS d WHERE d.database_id = DB_ID();

-- GetDelayedDurability reads whether a commit may be confirmed before it is on disk: 0 no, 1 if a
-- transaction asks for it, 2 always.
-- name: GetDelayedDurability :one
SELECT d.name, CONVERT(BIGINT, d.delayed_durability) AS value FROM sys.databases AS d WHERE d.database_id = DB_ID();

-- GetUpdateability is READ_WRITE or READ_ONLY; NULL from a server that does not know.
-- name: GetUpdateability :one
SELECT CONVERT(NVARCHAR(128), DATABASEPROPERTYEX(DB_NAME(), 'Updateability')) AS updateability;

-- GetPermissions tells who is logged in, and what the login may do: 1 for yes, 0 for no, NULL if
-- there is no such thing.
-- gen:param @schema nvarchar(258)
-- gen:param @callable nvarchar(517)
-- gen:param @class nvarchar(60)
-- name: GetPermissions :one
SELECT
    SUSER_SNAME() AS login_name, USER_NAME() AS user_name,
    HAS_PERMS_BY_NAME(@callable, @class, 'EXECUTE') AS may_execute,
    HAS_PERMS_BY_NAME(@schema, 'SCHEMA', 'VIEW DEFINITION') AS may_view_definition,
    IS_ROLEMEMBER(@role) AS in_role;

-- ReadClock reads the server's clock, in milliseconds since 1970 UTC (rule T2).
-- name: ReadClock :one
SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS unix_milliseconds;

-- GetMaxConnections is how many connections the server takes.
-- name: GetMaxConnections :one
SELECT CONVERT(BIGINT, @@MAX_CONNECTIONS) AS connections;

-- HasInstances tells whether a schema has the table of instances (1): one that was made by half
-- has none.
-- name: HasInstances :one
SELECT COUNT(*) AS tables FROM sys.tables AS t WHERE t.schema_id = SCHEMA_ID(@schema) AND t.name = N'instances';

-- CountInstances counts the instances.
-- name: CountInstances :one
SELECT COUNT_BIG(*) AS instances FROM duroxide.instances AS i;
