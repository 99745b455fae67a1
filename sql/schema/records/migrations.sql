-- The tables in which migrations record what they applied, a view that shows the records, and the roles. This script is
-- applied once, when a schema is created, before its first numbered script. A change to these tables is a numbered
-- script.

-- The numbered scripts that have been applied.
CREATE TABLE duroxide.migrations (
    version    INT           NOT NULL,
    name       NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- SHA-256 of the script.
    checksum   VARBINARY(32) NOT NULL,
    applied_at BIGINT        NOT NULL,
    CONSTRAINT pk_migrations PRIMARY KEY CLUSTERED (version)
);
GO

-- The functions, views and procedures that have been applied.
CREATE TABLE duroxide.modules (
    name            NVARCHAR(128) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- 'FUNCTION', 'VIEW' or 'PROCEDURE'.
    kind            NVARCHAR(16)  COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- SHA-256 of the file, and of the definition that the server stored for it. If the
    -- server's definition has another checksum later, somebody has edited the module.
    checksum        VARBINARY(32) NOT NULL,
    server_checksum VARBINARY(32) NULL,
    applied_at      BIGINT        NOT NULL,
    CONSTRAINT pk_modules PRIMARY KEY CLUSTERED (name)
);
GO

-- The revisions, each a set of scripts and modules, of which a migration has begun. The
-- highest is the present one.
CREATE TABLE duroxide.revisions (
    revision   INT    NOT NULL,
    -- The oldest revision whose programs may use the schema from then on.
    oldest     INT    NOT NULL,
    -- 1 once the whole set has been applied.
    complete   BIT    NOT NULL,
    applied_at BIGINT NOT NULL,
    CONSTRAINT pk_revisions PRIMARY KEY CLUSTERED (revision)
);
GO

-- The four roles. The file of each object grants it to one role. Each role below also has the
-- rights of the roles above it. They belong to dbo, so that whoever migrates can be dropped later.
--
--   duroxide_scaler   counts: recommended_workers and get_queue_depths, which show no payload
--   duroxide_reader   reads: the views, and procedures that list and get
--   duroxide_runtime  works: the procedures that workers and clients call
--   duroxide_admin    deletes and prunes
--
-- No role may use a table or call a helper procedure: procedures reach both by the rights of their
-- owner. The roles are made here and not by a numbered script, so that a login of the application
-- can read v_migrations at every version of the schema.
IF NOT EXISTS (SELECT 1 FROM sys.database_principals AS p WHERE p.name = N'duroxide_scaler')
    CREATE ROLE duroxide_scaler AUTHORIZATION dbo;
IF NOT EXISTS (SELECT 1 FROM sys.database_principals AS p WHERE p.name = N'duroxide_reader')
    CREATE ROLE duroxide_reader AUTHORIZATION dbo;
IF NOT EXISTS (SELECT 1 FROM sys.database_principals AS p WHERE p.name = N'duroxide_runtime')
    CREATE ROLE duroxide_runtime AUTHORIZATION dbo;
IF NOT EXISTS (SELECT 1 FROM sys.database_principals AS p WHERE p.name = N'duroxide_admin')
    CREATE ROLE duroxide_admin AUTHORIZATION dbo;
GO
ALTER ROLE duroxide_scaler ADD MEMBER duroxide_reader;
ALTER ROLE duroxide_reader ADD MEMBER duroxide_runtime;
ALTER ROLE duroxide_runtime ADD MEMBER duroxide_admin;
GO

-- Shows what has been applied, for people and for roles that may not read the tables. Times are
-- UTC.
--
--   kind              SCRIPT, FUNCTION, VIEW, PROCEDURE or REVISION
--   version           the number of a script or revision; 0 for the others
--   name              the file of a script, or the name of a module
--   checksum          SHA-256 of our text
--   server_checksum   SHA-256 of the definition that the server made of a module
--   oldest            of a revision: the oldest revision whose programs may use the schema
--   complete          of a revision: 0 until the whole revision has been applied
--   applied_at        when it was applied; of a revision, when applying it began
CREATE VIEW duroxide.v_migrations
AS
SELECT
    a.kind, a.version, a.name, a.checksum, a.server_checksum, a.oldest, a.complete,
    DATEADD(
        MILLISECOND, a.ms % 1000,
        DATEADD(SECOND, a.ms % 86400000 / 1000, DATEADD(DAY, a.ms / 86400000, CAST('19700101' AS DATETIME2(3))))
    ) AS applied_at
FROM (
    SELECT
        N'SCRIPT' AS kind, s.version, s.name, s.checksum, CAST(NULL AS VARBINARY(32)) AS server_checksum,
        CAST(NULL AS INT) AS oldest, CAST(NULL AS BIT) AS complete, s.applied_at AS ms
    FROM duroxide.migrations AS s
    UNION ALL
    SELECT
        m.kind, 0 AS version, m.name, m.checksum, m.server_checksum,
        CAST(NULL AS INT) AS oldest, CAST(NULL AS BIT) AS complete, m.applied_at AS ms
    FROM duroxide.modules AS m
    UNION ALL
    SELECT
        N'REVISION' AS kind, r.revision AS version, N'' AS name, CAST(0x AS VARBINARY(32)) AS checksum,
        CAST(NULL AS VARBINARY(32)) AS server_checksum, r.oldest, r.complete, r.applied_at AS ms
    FROM duroxide.revisions AS r
) AS a;
GO

GRANT SELECT ON duroxide.v_migrations TO duroxide_reader;
