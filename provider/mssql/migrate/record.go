package migrate

import "fmt"

// now is the server's clock, in milliseconds since the Unix epoch (rule T2).
const now = "DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())"

// foundationTables record what was done, and the role may read them through the view. The
// role is made here and not by a script, so that a login of the application can always be
// told which version it finds.
var foundationTables = []string{
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
	`-- The sets of scripts and modules that were begun to be applied. The highest is the
-- present one.
CREATE TABLE duroxide.revisions (
    revision   INT    NOT NULL,
    -- The lowest revision of programs that may use the schema from then on.
    oldest     INT    NOT NULL,
    -- 1 once all of the set has been applied.
    complete   BIT    NOT NULL,
    applied_at BIGINT NOT NULL,
    CONSTRAINT pk_revisions PRIMARY KEY CLUSTERED (revision)
);`,
	`IF NOT EXISTS (SELECT 1 FROM sys.database_principals AS p WHERE p.name = N'duroxide_runtime')
    CREATE ROLE duroxide_runtime;`,
}

// foundationView is the one view that is no module.
const foundationView = "v_migrations"

// createFoundationView shows the three tables. It computes times itself and not by
// utc_time, a module that may come, go and be replaced while this view stays. Days, seconds
// and milliseconds are added one by one, because the milliseconds since 1970 do not fit
// DATEADD's int (rule T2).
const createFoundationView = `-- What was applied, for people and for the role that may not read tables. Times are UTC.
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
) AS a;`

// foundation creates the schema and what stands before the first script.
func (p *planner) foundation() Step {
	var batches []Batch
	if !p.state.exists {
		batches = append(batches, p.statement("CREATE SCHEMA duroxide;"))
	}
	for _, text := range foundationTables {
		batches = append(batches, p.statement(text))
	}
	batches = append(batches,
		p.statement(createFoundationView),
		p.statement("GRANT SELECT ON duroxide.v_migrations TO duroxide_runtime;"))
	return Step{Name: "schema " + Quote(p.schema), Action: ActionCreate, Reason: reasonNew, Batches: batches}
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

// recordRevision tells everybody which release migrates, and whose programs may go on.
func (p *planner) recordRevision() Step {
	text := fmt.Sprintf("INSERT INTO duroxide.revisions (revision, oldest, complete, applied_at)\nVALUES (%d, %d, 0, %s);",
		p.scripts.revision, p.scripts.oldest, now)
	return Step{
		Name: fmt.Sprintf("revision %d", p.scripts.revision), Action: ActionRecord,
		Reason: reasonNew, Batches: []Batch{p.statement(text)},
	}
}

// recordCompletion tells that all of a revision is there: a later one that stops halfway
// has not taken it away.
func (p *planner) recordCompletion() Step {
	text := fmt.Sprintf("UPDATE duroxide.revisions SET complete = 1 WHERE revision = %d;", p.scripts.revision)
	return Step{
		Name: fmt.Sprintf("revision %d", p.scripts.revision), Action: ActionRecord,
		Reason: reasonComplete, Batches: []Batch{p.statement(text)},
	}
}
