-- What a migration records, and shows in a view. Applied when a schema is created, before its first numbered script, and never
-- again: a change to these tables is a numbered script, which finds them as they were first.

-- The numbered scripts that were applied.
CREATE TABLE duroxide.migrations (
    version    INT           NOT NULL,
    name       NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- SHA-256 of the script.
    checksum   VARBINARY(32) NOT NULL,
    applied_at BIGINT        NOT NULL,
    CONSTRAINT pk_migrations PRIMARY KEY CLUSTERED (version)
);
GO

-- The functions, views and procedures as they were applied last.
CREATE TABLE duroxide.modules (
    name            NVARCHAR(128) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- 'FUNCTION', 'VIEW' or 'PROCEDURE'.
    kind            NVARCHAR(16)  COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- SHA-256 of the file, and of the definition that the server made of it: when the
    -- server's differs from this one day, somebody has edited the module.
    checksum        VARBINARY(32) NOT NULL,
    server_checksum VARBINARY(32) NULL,
    applied_at      BIGINT        NOT NULL,
    CONSTRAINT pk_modules PRIMARY KEY CLUSTERED (name)
);
GO

-- The sets of scripts and modules that were begun to be applied. The highest is the
-- present one.
CREATE TABLE duroxide.revisions (
    revision   INT    NOT NULL,
    -- The lowest revision of programs that may use the schema from then on.
    oldest     INT    NOT NULL,
    -- 1 once all of the set has been applied.
    complete   BIT    NOT NULL,
    applied_at BIGINT NOT NULL,
    CONSTRAINT pk_revisions PRIMARY KEY CLUSTERED (revision)
);
GO

-- The three roles. Each object says in its own file which one may use it; the next role may do
-- what the one before may.
--
--   duroxide_reader   reads: the views, and what lists and gets
--   duroxide_runtime  works: what workers and clients call
--   duroxide_admin    deletes and prunes
--
-- None may touch a table, nor call a procedure that only others call: both are reached through the
-- owner. They are made here and not by a numbered script, so that a login of the application can
-- always be told which version it finds.
IF NOT EXISTS (SELECT 1 FROM sys.database_principals AS p WHERE p.name = N'duroxide_reader')
    CREATE ROLE duroxide_reader;
IF NOT EXISTS (SELECT 1 FROM sys.database_principals AS p WHERE p.name = N'duroxide_runtime')
    CREATE ROLE duroxide_runtime;
IF NOT EXISTS (SELECT 1 FROM sys.database_principals AS p WHERE p.name = N'duroxide_admin')
    CREATE ROLE duroxide_admin;
GO
ALTER ROLE duroxide_reader ADD MEMBER duroxide_runtime;
ALTER ROLE duroxide_runtime ADD MEMBER duroxide_admin;
GO

-- What was applied, for people and for the role that may not read tables. Times are UTC.
--
--   kind              SCRIPT, FUNCTION, VIEW, PROCEDURE or REVISION
--   version           the number of a script or revision; 0 for the others
--   name              the file of a script, or the name of a module
--   checksum          SHA-256 of our text
--   server_checksum   SHA-256 of the definition that the server made of a module
--   oldest            for a revision, the lowest one whose programs it serves
--   complete          for a revision, 0 until all of it has been applied
--   applied_at        when; for a revision, when that began
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
