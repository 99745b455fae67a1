package migrate

import "fmt"

// now is the server's clock, in milliseconds since the Unix epoch (rule T2).
const now = "DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())"

// foundation creates the schema and what stands before the first script: the tables
// that record what was done, the view of them, and the role that may read it. The role is made here
// and not by a script, so that a login of the application can always be told which
// version it finds.
func (p *planner) foundation() Step {
	var batches []Batch
	if !p.state.exists {
		batches = append(batches, p.statement("CREATE SCHEMA duroxide;"))
	}
	for _, text := range []string{
		`-- The numbered scripts that were applied.
CREATE TABLE duroxide.migrations (
    version    INT           NOT NULL,
    name       NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- SHA-256 of the script.
    checksum   VARBINARY(32) NOT NULL,
    applied_at BIGINT        NOT NULL,
    CONSTRAINT pk_migrations PRIMARY KEY CLUSTERED (version)
);`,
		`-- The functions, views and procedures as they were applied last.
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
);`,
		`-- The sets of modules that were begun to be applied. The highest is the present one.
CREATE TABLE duroxide.revisions (
    revision   INT    NOT NULL,
    applied_at BIGINT NOT NULL,
    CONSTRAINT pk_revisions PRIMARY KEY CLUSTERED (revision)
);`,
		`IF NOT EXISTS (SELECT 1 FROM sys.database_principals AS p WHERE p.name = N'duroxide_runtime')
    CREATE ROLE duroxide_runtime;`,
		`-- What was applied, for people and for the role that may not read tables. kind is
-- 'SCRIPT', 'FUNCTION', 'VIEW', 'PROCEDURE' or 'REVISION'; applied_at is in milliseconds
-- since the Unix epoch.
CREATE VIEW duroxide.v_migrations
AS
SELECT N'SCRIPT' AS kind, s.version, s.name, s.checksum, CAST(NULL AS VARBINARY(32)) AS server_checksum, s.applied_at
FROM duroxide.migrations AS s
UNION ALL
SELECT m.kind, 0 AS version, m.name, m.checksum, m.server_checksum, m.applied_at
FROM duroxide.modules AS m
UNION ALL
SELECT N'REVISION' AS kind, r.revision AS version, N'' AS name, CAST(0x AS VARBINARY(32)) AS checksum,
    CAST(NULL AS VARBINARY(32)) AS server_checksum, r.applied_at
FROM duroxide.revisions AS r;`,
		`GRANT SELECT ON duroxide.v_migrations TO duroxide_runtime;`,
	} {
		batches = append(batches, p.statement(text))
	}
	return Step{Name: "schema " + Quote(p.schema), Action: ActionCreate, Reason: ReasonNew, Batches: batches}
}

// recordScript fails if another process has been faster, and the script with it.
func (p *planner) recordScript(one script) Batch {
	return p.statement(fmt.Sprintf(
		"INSERT INTO duroxide.migrations (version, name, checksum, applied_at)\nVALUES (%d, %s, 0x%x, %s);",
		one.version, quoteText(one.name), one.checksum, now))
}

// recordModule notes the checksum of the definition just made. Servers store it in
// their own words (SQL Server without OR ALTER), so it is asked for.
func (p *planner) recordModule(one module) Batch {
	return p.statement(fmt.Sprintf(`DELETE FROM duroxide.modules WHERE name = %[1]s;
INSERT INTO duroxide.modules (name, kind, checksum, server_checksum, applied_at)
SELECT o.name, N'%[2]s', 0x%[3]x, HASHBYTES('SHA2_256', m.definition), %[4]s
FROM sys.sql_modules AS m
INNER JOIN sys.objects AS o ON o.object_id = m.object_id
WHERE o.schema_id = SCHEMA_ID(N'duroxide') AND o.name = %[1]s;`,
		quoteText(one.name), one.kind, one.checksum, now))
}

func (p *planner) recordRevision() Step {
	text := fmt.Sprintf("INSERT INTO duroxide.revisions (revision, applied_at)\nVALUES (%d, %s);", p.scripts.revision, now)
	return Step{
		Name: fmt.Sprintf("revision %d", p.scripts.revision), Action: ActionRecord,
		Reason: ReasonNew, Batches: []Batch{p.statement(text)},
	}
}
