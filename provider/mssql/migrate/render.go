package migrate

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WriteTo writes the plan as a script that does by hand what [Migration.Up] does: with
// the same lock, transactions and records. It runs in sqlcmd or Management Studio, and
// not twice: a second run stops at the first script that is there already.
func (p *Plan) WriteTo(w io.Writer) (int64, error) {
	var out bytes.Buffer
	if p.Newer {
		fmt.Fprintf(&out, "-- Schema %s is newer than this release, which it still serves: there is nothing to do.\n", Quote(p.Schema))
		return out.WriteTo(w)
	}
	if p.Empty() {
		fmt.Fprintf(&out, "-- Schema %s is up to date: there is nothing to do.\n", Quote(p.Schema))
		return out.WriteTo(w)
	}
	fmt.Fprintf(&out, `-- Migrates schema %s in %d transactions. Run it as the owner, with
--     sqlcmd -b -x -i <this file>
-- It was made for the state the schema was in; if it stops, make a new one.
`, Quote(p.Schema), len(p.Steps))
	writeBatch(&out, takeLockByHand(p.Schema))
	writeBatch(&out, sessionOptions)
	for i, step := range p.Steps {
		fmt.Fprintf(&out, "-- %d of %d: %s %s (%s)\n", i+1, len(p.Steps), step.Action, step.Name, step.Reason)
		writeBatch(&out, beginStep)
		for _, batch := range step.Batches {
			writeRepeated(&out, batch)
			writeBatch(&out, stopScript)
		}
		writeBatch(&out, endStep)
	}
	writeBatch(&out, goOn)
	writeBatch(&out, releaseLockByHand(p.Schema))
	return out.WriteTo(w)
}

// Export writes the whole schema of this release for SQL Server, as batches that end with
// GO, for teams whose own migration tool applies it. It needs no server. It includes the
// records, without which a program would take the schema for missing. It creates; to
// change a schema that is there, use [Migration.Plan] and [Plan.WriteTo].
//
// schema is the schema's name, "" for [DefaultSchema]. Errors are that of a name that
// [CheckSchemaName] refuses, and those of w.
func Export(w io.Writer, schema string) error {
	m, err := (&Migration{Schema: schema}).completed()
	if err != nil {
		return err
	}
	return m.release.export(w, m.Schema)
}

// export is [Export] for any release.
func (s *release) export(w io.Writer, schema string) error {
	plan := makePlan(schema, s, &state{exists: true})
	var out bytes.Buffer
	fmt.Fprintf(&out, "-- Creates schema %s: version %d, revision %d.\n", Quote(schema), s.version(), s.revision)
	writeBatch(&out, moduleOptions)
	// The only statement that must have a batch to itself and may have run before.
	writeBatch(&out, createSchemaOnce(schema))
	for _, step := range plan.Steps {
		fmt.Fprintf(&out, "-- %s\n", step.Name)
		for _, batch := range step.Batches {
			writeRepeated(&out, batch)
		}
	}
	_, err := out.WriteTo(w)
	return err
}

func writeBatch(out *bytes.Buffer, text string) {
	writeRepeated(out, Batch{Text: text, Repeat: 1})
}

// writeRepeated writes a batch with its GO line.
func writeRepeated(out *bytes.Buffer, batch Batch) {
	out.WriteString(strings.Trim(batch.Text, "\n"))
	if batch.Repeat == 1 {
		out.WriteString("\nGO\n\n")
		return
	}
	fmt.Fprintf(out, "\nGO %d\n\n", batch.Repeat)
}
