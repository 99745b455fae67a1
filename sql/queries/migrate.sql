-- Reads of the migrator: what the server is, what was applied to a schema, and what is there.

-- GetServerKind tells what kind of server this is: "1" on Babelfish, NULL on SQL Server, which
-- has no such property.
-- name: GetServerKind :one
SELECT CAST(SERVERPROPERTY('babelfish') AS NVARCHAR(10)) AS babelfish;

-- GetServerForm tells what decides in which form lists are sent: what GetServerKind tells, and the
-- name of the database and its compatibility level, such as 160.
-- name: GetServerForm :one
SELECT
    CAST(SERVERPROPERTY('babelfish') AS NVARCHAR(10)) AS babelfish, DB_NAME() AS database_name,
    (SELECT CAST(d.compatibility_level AS INT) FROM sys.databases AS d WHERE d.database_id = DB_ID()) AS compatibility_level;

-- FindSchema tells whether there is a schema, by its id, and whether it has the view that shows
-- what was applied (1) or not (0). A login that may not see them gets the same answer as for a
-- schema that is missing.
-- name: FindSchema :one
SELECT
    SCHEMA_ID(@schema) AS schema_id,
    (SELECT COUNT(*) FROM sys.views AS v WHERE v.schema_id = SCHEMA_ID(@schema) AND v.name = N'v_migrations') AS record_views;

-- ReadRecords reads what was applied. The runtime role may read the view, and not the tables
-- behind it.
-- name: ReadRecords :many
SELECT r.kind, r.version, r.name, r.checksum, r.server_checksum, r.oldest, r.complete
FROM duroxide.v_migrations AS r;

-- ListModules lists the functions, views and procedures that are there, ours or not, with the
-- checksum of the definition as the server stores it; NULL for one that cannot be read.
-- set_options is 1 for a module that was created with QUOTED_IDENTIFIER and ANSI_NULLS on (rule
-- P7).
-- name: ListModules :many
SELECT
    o.name, o.type, HASHBYTES('SHA2_256', m.definition) AS checksum,
    CASE WHEN m.uses_quoted_identifier = 1 AND m.uses_ansi_nulls = 1 THEN 1 ELSE 0 END AS set_options
FROM sys.sql_modules AS m
INNER JOIN sys.objects AS o ON o.object_id = m.object_id
WHERE o.schema_id = SCHEMA_ID(@schema);

-- ListIndexesWithPageLocks lists the indexes that allow page locks (rule Q5).
-- name: ListIndexesWithPageLocks :many
SELECT t.name AS table_name, i.name AS index_name
FROM sys.indexes AS i
INNER JOIN sys.tables AS t ON t.object_id = i.object_id
WHERE t.schema_id = SCHEMA_ID(@schema) AND i.name IS NOT NULL AND i.allow_page_locks = 1
ORDER BY i.name;

-- ListObjects lists what is in a schema. What belongs to a table goes with it and is left out;
-- table types have their names in sys.types. Babelfish also lists the sequence of an identity
-- column, so that sequences are listed on demand, and as a type the @table that a function
-- returns.
-- gen:param @sequences bit
-- name: ListObjects :many
SELECT o.name
FROM sys.objects AS o
WHERE o.schema_id = SCHEMA_ID(@schema)
  AND (o.type IN ('P', 'V', 'FN', 'IF', 'TF', 'U', 'SN', 'AF', 'FS', 'FT', 'PC', 'X') OR o.type = 'SO' AND @sequences = 1)
UNION ALL
SELECT t.name FROM sys.types AS t WHERE t.schema_id = SCHEMA_ID(@schema) AND t.name NOT LIKE N'@%';

-- ListRoleMembers lists the members of a role: a role cannot be dropped while it has any.
-- name: ListRoleMembers :many
SELECT member.name
FROM sys.database_role_members AS m
INNER JOIN sys.database_principals AS r ON r.principal_id = m.role_principal_id
INNER JOIN sys.database_principals AS member ON member.principal_id = m.member_principal_id
WHERE r.name = @role;

-- GetMembership tells which of the roles the login is in, and whether each is in the one before: 1
-- for yes, 0 for no, NULL if there is no such role; whether it is an owner, and how many
-- permissions the server tells of: none if it does not keep them there.
-- name: GetMembership :one
SELECT
    IS_ROLEMEMBER(@reader) AS in_reader, IS_ROLEMEMBER(@runtime) AS in_runtime, IS_ROLEMEMBER(@admin) AS in_admin,
    IS_ROLEMEMBER(@reader, @runtime) AS runtime_reads, IS_ROLEMEMBER(@runtime, @admin) AS admin_works,
    CASE WHEN IS_ROLEMEMBER('db_owner') = 1 OR IS_SRVROLEMEMBER('sysadmin') = 1 OR USER_NAME() = 'dbo' THEN 1 ELSE 0 END AS is_owner,
    (SELECT COUNT(*) FROM sys.database_permissions AS p) AS permissions;

-- ListGrants lists what was granted in a schema, as far as the login may see it: on procedures,
-- functions and views (class ''), and on table types (class TYPE).
-- name: ListGrants :many
SELECT r.name AS role, COALESCE(p.permission_name, N'') AS permission_name, CAST(N'' AS NVARCHAR(4)) AS class, o.name
FROM sys.database_permissions AS p
INNER JOIN sys.objects AS o ON o.object_id = p.major_id AND o.schema_id = SCHEMA_ID(@schema)
INNER JOIN sys.database_principals AS r ON r.principal_id = p.grantee_principal_id
WHERE p.class = 1 AND p.minor_id = 0 AND p.state IN ('G', 'W')
UNION ALL
SELECT r.name AS role, COALESCE(p.permission_name, N'') AS permission_name, CAST(N'TYPE' AS NVARCHAR(4)) AS class, t.name
FROM sys.database_permissions AS p
INNER JOIN sys.types AS t ON t.user_type_id = p.major_id AND t.schema_id = SCHEMA_ID(@schema)
INNER JOIN sys.database_principals AS r ON r.principal_id = p.grantee_principal_id
WHERE p.class = 6 AND p.state IN ('G', 'W');

-- IsOwner tells whether the login has all rights in the database (1): it is a member of db_owner
-- or of sysadmin, or is dbo.
-- name: IsOwner :one
SELECT CASE WHEN IS_ROLEMEMBER('db_owner') = 1 OR IS_SRVROLEMEMBER('sysadmin') = 1 OR USER_NAME() = 'dbo' THEN 1 ELSE 0 END AS is_owner;
