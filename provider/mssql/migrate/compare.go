package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
)

// readTables asks the server for the tables that it has.
func (m *Migration) readTables(ctx context.Context, db mssqldb.DBTX) (tables, error) {
	columns, err := m.on(db).ListColumns(ctx, mssqldb.ListColumnsParams{Schema: m.schema()})
	if err != nil {
		return nil, err
	}
	rows, err := m.on(db).ListIndexes(ctx, mssqldb.ListIndexesParams{Schema: m.schema()})
	if err != nil {
		return nil, err
	}
	all := tables{}
	for i := range columns {
		t := all.of(columns[i].TableName)
		t.columns = append(t.columns, storedColumn(&columns[i]))
	}
	for i := range rows {
		all.of(rows[i].TableName).note(&rows[i])
	}
	return all, nil
}

// storedColumn translates a row of sys.columns.
func storedColumn(row *mssqldb.ListColumnsRow) column {
	c := column{
		name: row.Name, kind: row.TypeName, nullable: row.Nullable == 1, identity: row.HasIdentity == 1, defaults: row.HasDefault == 1,
	}
	if row.CollationName != nil {
		c.collation = *row.CollationName
	}
	length := int(row.MaxLength)
	switch row.TypeName {
	case "nvarchar", "nchar":
		length /= 2
		fallthrough
	case "varchar", "char", "varbinary", "binary":
		if row.MaxLength < 0 {
			c.kind += "(max)"
		} else {
			c.kind += fmt.Sprintf("(%d)", length)
		}
	case "decimal", "numeric":
		c.kind += fmt.Sprintf("(%d,%d)", row.Precision, row.Scale)
	case "datetime2", "datetimeoffset", "time":
		c.kind += fmt.Sprintf("(%d)", row.Scale)
	}
	return c
}

// note adds a column of an index.
func (t *table) note(row *mssqldb.ListIndexesRow) {
	ix := t.indexes[row.Name]
	ix.name, ix.unique, ix.clustered, ix.disabled = row.Name, row.IsUniqueIndex == 1, row.IsClustered == 1, row.IsOff == 1
	switch {
	case row.IsPrimary == 1:
		ix.constraint = "PRIMARY KEY"
	case row.IsUniqueKey == 1:
		ix.constraint = "UNIQUE"
	}
	if row.FilterDefinition != nil {
		ix.filter = canonical(*row.FilterDefinition)
	}
	switch {
	case row.KeyOrdinal == 0:
		ix.include = append(ix.include, row.ColumnName)
	case row.IsDescending == 1:
		ix.keys = append(ix.keys, row.ColumnName+" DESC")
	default:
		ix.keys = append(ix.keys, row.ColumnName)
	}
	t.indexes[row.Name] = ix
}

// made are the tables that the applied scripts have made.
func (s *release) made(applied map[int]recordedScript) tables {
	all := tables{}
	for _, one := range s.numbered {
		if _, ok := applied[one.version]; ok {
			for _, change := range one.changes {
				change(all)
			}
		}
	}
	return all
}

// indexFault is an index that is not as the scripts have made it.
type indexFault struct {
	table  string
	wanted index
	// stored is what the server has instead, without a name if it has nothing.
	stored index
	kind   ProblemKind
	reason string
}

// indexFaults compares the indexes of the tables that are there.
func (p *planner) indexFaults() (list []indexFault) {
	for name, wanted := range inOrder(p.scripts.made(p.state.scripts)) {
		stored, there := p.state.tables[name]
		if !there {
			continue
		}
		for _, ix := range inOrder(wanted.indexes) {
			f := indexFault{table: name, wanted: ix, stored: stored.indexes[ix.name]}
			switch {
			case f.stored.name == "":
				f.kind, f.reason = ProblemMissingIndex, reasonMissing
			case f.stored.String() != ix.String():
				f.kind, f.reason = ProblemChangedIndex, fmt.Sprintf("it is %s and should be %s", f.stored, ix)
			case f.stored.disabled:
				f.kind, f.reason = ProblemDisabledIndex, reasonDisabled
			default:
				continue
			}
			list = append(list, f)
		}
	}
	return list
}

// addIndexes adds what makes the indexes again that are missing, disabled or different. A clustered one comes first,
// since the others refer to its key.
func (p *planner) addIndexes() {
	faults := p.indexFaults()
	slices.SortStableFunc(faults, func(a, b indexFault) int {
		return boolToInt(b.wanted.clustered) - boolToInt(a.wanted.clustered)
	})
	for i, f := range faults {
		step := Step{Name: "index " + f.wanted.name, Action: ActionRestore, Reason: f.reason}
		if f.kind == ProblemDisabledIndex {
			step.Batches = append(step.Batches, p.statement(fmt.Sprintf(rebuildIndex, Quote(f.wanted.name), f.table)))
		} else {
			if f.kind == ProblemChangedIndex {
				step.Batches = append(step.Batches, p.dropIndex(f))
			}
			step.Batches = append(step.Batches, p.statement(f.wanted.create))
		}
		step.Batches = append(step.Batches, p.storage(f.table, faults[i+1:])...)
		p.steps = append(p.steps, step)
	}
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// dropIndex drops what stands in the way of an index.
func (p *planner) dropIndex(f indexFault) Batch {
	if f.stored.constraint != "" {
		return p.statement(fmt.Sprintf(dropConstraint, f.table, Quote(f.stored.name)))
	}
	return p.statement(fmt.Sprintf(dropIndex, Quote(f.stored.name), f.table))
}

// storage are the batches of the applied scripts that say how the indexes of a table are stored, which a new index does
// not know. Those that name an index which is restored later are left to its step.
func (p *planner) storage(table string, later []indexFault) (list []Batch) {
	for _, one := range p.scripts.numbered {
		if _, applied := p.state.scripts[one.version]; !applied {
			continue
		}
		for _, batch := range one.batches {
			isLater := slices.ContainsFunc(later, func(f indexFault) bool { return setsIndexes(batch.Text, f.table) })
			if !isLater && setsIndexes(batch.Text, table) {
				list = append(list, p.rewrite([]Batch{batch})...)
			}
		}
	}
	return list
}

// setsIndexes reports whether a batch changes settings of indexes of a table, and makes nothing.
func setsIndexes(batch, table string) bool {
	sets, names := false, false
	list := statements(tokens(batch))
	for i, t := range list {
		if t.is("CREATE") {
			return false
		}
		sets = sets || t.is("ALTER") && i+1 < len(list) && list[i+1].is("INDEX") || t.kind == tokenText && strings.Contains(t.text, alterIndex)
		names = names || t.name() == table || t.kind == tokenText && strings.Contains(t.text, "."+table+" ")
	}
	return sets && names
}

// tableProblems names every way in which tables and indexes differ from the scripts that were applied.
func (m *Migration) tableProblems(st *state) (problems []Problem) {
	const repair = "; `duroxide migrate up` restores it"
	p := &planner{schema: m.schema(), scripts: m.release, state: st}
	for name, wanted := range inOrder(m.release.made(st.scripts)) {
		stored, there := st.tables[name]
		if !there {
			problems = append(problems, Problem{ProblemMissingTable, name, "it is missing on the server; restore it, with its rows, from a backup"})
			continue
		}
		problems = append(problems, columnProblems(name, wanted, stored)...)
		for _, ix := range inOrder(stored.indexes) {
			if _, ours := wanted.indexes[ix.name]; !ours {
				problems = append(problems, Problem{ProblemExtraIndex, ix.name, "is an index of " + name + " that is not ours; it stays"})
			}
		}
	}
	for _, f := range p.indexFaults() {
		problems = append(problems, Problem{f.kind, f.wanted.name, "is an index of " + f.table + ": " + f.reason + repair})
	}
	return problems
}

// columnProblems compares the columns of one table.
func columnProblems(name string, wanted, stored *table) (problems []Problem) {
	const repair = "; no script of this release does that, so undo it by hand"
	for _, c := range wanted.columns {
		at := slices.IndexFunc(stored.columns, func(other column) bool { return other.name == c.name })
		if at < 0 {
			problems = append(problems, Problem{ProblemChangedTable, name, "column " + c.name + " is missing; restore it from a backup"})
			continue
		}
		other := stored.columns[at]
		if c.collation == "" { // that of the database
			other.collation = ""
		}
		if other != c {
			problems = append(problems, Problem{ProblemChangedTable, name, fmt.Sprintf("a column is %s and should be %s", other, c) + repair})
		}
	}
	for _, c := range stored.columns {
		if !slices.ContainsFunc(wanted.columns, func(other column) bool { return other.name == c.name }) {
			problems = append(problems, Problem{ProblemChangedTable, name, "column " + c.name + " is not ours" + repair})
		}
	}
	return problems
}

// inOrder yields a map in the order of its keys.
func inOrder[V any](all map[string]V) func(yield func(string, V) bool) {
	return func(yield func(string, V) bool) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if !yield(name, all[name]) {
				return
			}
		}
	}
}
