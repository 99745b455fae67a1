package migrate

import (
	"fmt"
	"sync"

	scripts "github.com/duroxide/duroxide-go/sql"
)

// now is the server's clock, in milliseconds since the Unix epoch (rule T2).
const now = "DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())"

// recordsFile makes the tables that record what was done, the view that shows them, and the
// role. It belongs to the migrator and to no release: what it makes is never changed but by
// a numbered script.
const recordsFile = schemaFolder + "/records/migrations.sql"

// foundationView is the one view that is no module.
const foundationView = "v_migrations"

// foundationBatches are the batches of recordsFile.
var foundationBatches = sync.OnceValue(func() []Batch {
	source, err := readSource(scripts.MSSQLScripts(), recordsFile)
	if err != nil {
		panic(err) // the file is embedded, and every test of a migration reads it
	}
	return source.batches
})

// foundation creates the schema and what stands before the first script.
func (p *planner) foundation() Step {
	var batches []Batch
	if !p.state.exists {
		batches = append(batches, p.statement("CREATE SCHEMA duroxide;"))
	}
	batches = append(batches, p.rewrite(foundationBatches())...)
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
