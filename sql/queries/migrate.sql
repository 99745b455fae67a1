-- Queries of the migrator: what was applied to a schema, and what is in it.

-- FindSchema reads the id of a schema, NULL if there is none, and whether the schema has the view
-- v_migrations (1) or not (0). A login that may not see them gets the same answer as for a missing
-- schema.
-- name: FindSchema :one
SELECT
    SCHEMA_ID(@schema) AS schema_id,
    (SELECT COUNT(*) FROM sys.views AS v WHERE v.schema_id = SCHEMA_ID(@schema) AND v.name = N'v_migrations') AS record_views;

-- ReadRecords reads what was applied, from the view: the roles may read the view, but not its tables.
-- name: ReadRecords :many
SELECT r.kind, r.version, r.name, r.checksum, r.server_checksum, r.oldest, r.complete
FROM duroxide.v_migrations AS r;

-- ListModules lists the functions, views and procedures of the schema, ours or not, with the
-- checksum of the definition that the server stores; NULL if the login may not read the definition.
-- set_options is 1 for a module that was created with QUOTED_IDENTIFIER and ANSI_NULLS
-- on.
-- name: ListModules :many
SELECT
    o.name, o.type, HASHBYTES('SHA2_256', m.definition) AS checksum,
    CASE WHEN m.uses_quoted_identifier = 1 AND m.uses_ansi_nulls = 1 THEN 1 ELSE 0 END AS set_options
FROM sys.sql_modules AS m
INNER JOIN sys.objects AS o ON o.object_id = m.object_id
WHERE o.schema_id = SCHEMA_ID(@schema);

-- ListIndexesWithPageLocks lists the indexes that allow page locks.
-- name: ListIndexesWithPageLocks :many
SELECT t.name AS table_name, i.name AS index_name
FROM sys.indexes AS i
INNER JOIN sys.tables AS t ON t.object_id = i.object_id
WHERE t.schema_id = SCHEMA_ID(@schema) AND i.name IS NOT NULL AND i.allow_page_locks = 1
ORDER BY i.name;

-- ListColumns lists the columns of the schema's tables, in their order. has_default is 1 for a column with a
-- default.
-- name: ListColumns :many
SELECT
    t.name AS table_name, COALESCE(c.name, N'') AS name, y.name AS type_name, c.max_length, c.precision, c.scale,
    CASE WHEN c.is_nullable = 1 THEN 1 ELSE 0 END AS nullable, CASE WHEN c.is_identity = 1 THEN 1 ELSE 0 END AS has_identity,
    CASE WHEN c.default_object_id <> 0 THEN 1 ELSE 0 END AS has_default, c.collation_name
FROM sys.columns AS c
INNER JOIN sys.tables AS t ON t.object_id = c.object_id
INNER JOIN sys.types AS y ON y.user_type_id = c.user_type_id
WHERE t.schema_id = SCHEMA_ID(@schema)
ORDER BY t.name, c.column_id;

-- ListIndexes lists the indexes of the schema's tables, a row for each of their columns: first those of the key, in
-- their order (key_ordinal from 1), then those that are merely included (0).
-- name: ListIndexes :many
SELECT
    t.name AS table_name, COALESCE(i.name, N'') AS name, CASE WHEN i.type = 1 THEN 1 ELSE 0 END AS is_clustered,
    CASE WHEN i.is_unique = 1 THEN 1 ELSE 0 END AS is_unique_index,
    CASE WHEN i.is_primary_key = 1 THEN 1 ELSE 0 END AS is_primary, CASE WHEN i.is_unique_constraint = 1 THEN 1 ELSE 0 END AS is_unique_key,
    CASE WHEN i.is_disabled = 1 THEN 1 ELSE 0 END AS is_off, i.filter_definition,
    COALESCE(c.name, N'') AS column_name, CAST(ic.key_ordinal AS INT) AS key_ordinal,
    CASE WHEN ic.is_descending_key = 1 THEN 1 ELSE 0 END AS is_descending
FROM sys.indexes AS i
INNER JOIN sys.tables AS t ON t.object_id = i.object_id
INNER JOIN sys.index_columns AS ic ON ic.object_id = i.object_id AND ic.index_id = i.index_id
INNER JOIN sys.columns AS c ON c.object_id = ic.object_id AND c.column_id = ic.column_id
WHERE t.schema_id = SCHEMA_ID(@schema) AND i.name IS NOT NULL AND i.is_hypothetical = 0
ORDER BY t.name, i.name, CASE WHEN ic.key_ordinal = 0 THEN 1 ELSE 0 END, ic.key_ordinal, c.name;

-- ListObjects lists the objects in a schema, except those that are dropped with their table. The
-- names of table types are in sys.types.
-- name: ListObjects :many
SELECT o.name
FROM sys.objects AS o
WHERE o.schema_id = SCHEMA_ID(@schema) AND o.type IN ('P', 'V', 'FN', 'IF', 'TF', 'U', 'SN', 'SO', 'AF', 'FS', 'FT', 'PC', 'X')
UNION ALL
SELECT t.name FROM sys.types AS t WHERE t.schema_id = SCHEMA_ID(@schema);

-- ListRoleMembers lists the members of a role: a role cannot be dropped while it has any.
-- name: ListRoleMembers :many
SELECT member.name
FROM sys.database_role_members AS m
INNER JOIN sys.database_principals AS r ON r.principal_id = m.role_principal_id
INNER JOIN sys.database_principals AS member ON member.principal_id = m.member_principal_id
WHERE r.name = @role;

-- GetMembership reads which roles the login is in, and whether each role is a member of the one
-- before: 1 for yes, 0 for no, NULL if there is no such role. is_owner is 1 if the login has all
-- rights in the database.
-- name: GetMembership :one
SELECT
    IS_ROLEMEMBER(@scaler) AS in_scaler, IS_ROLEMEMBER(@reader) AS in_reader, IS_ROLEMEMBER(@runtime) AS in_runtime, IS_ROLEMEMBER(@admin) AS in_admin,
    IS_ROLEMEMBER(@scaler, @reader) AS reader_counts, IS_ROLEMEMBER(@reader, @runtime) AS runtime_reads, IS_ROLEMEMBER(@runtime, @admin) AS admin_works,
    CASE WHEN IS_ROLEMEMBER('db_owner') = 1 OR IS_SRVROLEMEMBER('sysadmin') = 1 OR USER_NAME() = 'dbo' THEN 1 ELSE 0 END AS is_owner;

-- ListGrants lists the grants in a schema that the login may see: on procedures, functions and views
-- (class ''), and on table types (class TYPE).
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

-- IsOwner reads whether the login has all rights in the database (1), as dbo or as a member of
-- db_owner or sysadmin.
-- name: IsOwner :one
SELECT CASE WHEN IS_ROLEMEMBER('db_owner') = 1 OR IS_SRVROLEMEMBER('sysadmin') = 1 OR USER_NAME() = 'dbo' THEN 1 ELSE 0 END AS is_owner;
