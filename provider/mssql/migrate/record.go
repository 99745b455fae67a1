package migrate

import (
	"fmt"
	"sync"

	scripts "github.com/duroxide/duroxide-go/sql"
)

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
		batches = append(batches, p.statement(createSchema))
	}
	batches = append(batches, p.rewrite(foundationBatches())...)
	return Step{Name: "schema " + Quote(p.schema), Action: ActionCreate, Reason: reasonNoRecords, Batches: batches}
}

// recordScript fails if another process has been faster, and the script with it.
func (p *planner) recordScript(one script) Batch {
	return p.statement(fmt.Sprintf(insertScript, one.version, quoteText(one.name), one.checksum))
}

// recordModule notes the checksum of the definition just made. Servers store it in
// their own words (SQL Server without OR ALTER), so it is asked for.
func (p *planner) recordModule(one module) Batch {
	return p.statement(fmt.Sprintf(insertModule, quoteText(one.name), one.kind, one.checksum))
}

// recordRevision tells everybody which release migrates, and whose programs may go on.
func (p *planner) recordRevision() Step {
	text := fmt.Sprintf(insertRevision, p.scripts.revision, p.scripts.oldest)
	return Step{
		Name: fmt.Sprintf("revision %d", p.scripts.revision), Action: ActionRecord,
		Reason: reasonNew, Batches: []Batch{p.statement(text)},
	}
}

// recordCompletion tells that all of a revision is there: a later one that stops halfway
// has not taken it away.
func (p *planner) recordCompletion() Step {
	text := fmt.Sprintf(completeRevision, p.scripts.revision)
	return Step{
		Name: fmt.Sprintf("revision %d", p.scripts.revision), Action: ActionRecord,
		Reason: reasonComplete, Batches: []Batch{p.statement(text)},
	}
}
