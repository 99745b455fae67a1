package analyze

import (
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// singleRow and empty name what is known of a table: that it has one row at most, and that it has none. The first
// follows from the second, as long as nothing else stores rows in the table:
//
//	CREATE TABLE #t (id int NOT NULL);                       -- empty
//	INSERT INTO #t (id) SELECT TOP (1) c.id FROM dbo.c AS c; -- singleRow
//	SELECT TOP (1) c.id INTO #u FROM dbo.c AS c;             -- singleRow
//
// It is followed for temp tables and table variables, which no other session sees.
func singleRow(table string) string { return "1" + catalog.Fold(table) }
func empty(table string) string     { return "0" + catalog.Fold(table) }

// rowsOf returns how many rows a temp table or a table variable has.
func (e *env) rowsOf(table string) Cardinality {
	// One that nothing is stored in is as it was made, for somebody to fill it.
	if e.facts.has(singleRow(table)) && !e.facts.has(empty(table)) {
		return Optional
	}
	return Many
}

// ofTables returns what is known of tables alone.
func (n facts) ofTables() facts {
	var vars []string
	for name := range n.vars {
		if strings.HasPrefix(name, "@") {
			vars = append(vars, name)
		}
	}
	return n.without(vars)
}

// fills notes how many rows the temp tables and table variables have behind a statement.
func (w *walker) fills(s syntax.Stmt) {
	before := w.e.facts
	after := before.without(w.filledIn(s, before))
	switch s := s.(type) {
	case *syntax.CreateTable:
		if local(s.Name) {
			after = after.with([]string{empty(s.Name.Last().Value), singleRow(s.Name.Last().Value)})
		}
	case *syntax.Truncate:
		if local(s.Table) {
			after = after.with([]string{empty(s.Table.Last().Value), singleRow(s.Table.Last().Value)})
		}
	case *syntax.Declare:
		// In a loop, or behind a label, it is met again and the rows remain.
		for i := range s.Vars {
			name := s.Vars[i].Name
			if _, table := w.e.table(name); table && len(w.loops) == 0 && !w.jumps {
				after = after.with([]string{empty(name), singleRow(name)})
			}
		}
	case *syntax.SelectStmt:
		if into := intoOf(s); into != nil && local(into) && w.e.found != Many {
			after = after.with([]string{singleRow(into.Last().Value)})
		}
	case *syntax.Insert:
		after = after.with(w.filledOnce(before, s.Target, s.Output))
	case *syntax.Update:
		after = after.with(w.filledOnce(before, nil, s.Output))
	case *syntax.Delete:
		after = after.with(w.filledOnce(before, nil, s.Output))
	}
	w.e.facts = after
}

// filledOnce returns what is known of the tables in which a statement of one row stores that row: its target, and that
// of OUTPUT … INTO.
func (w *walker) filledOnce(before facts, target syntax.TableSource, out *syntax.Output) []string {
	if w.e.found == Many {
		return nil
	}
	first, second := rowTarget(target), ""
	if out != nil {
		second = rowTarget(out.Into)
	}
	if same(first, second) {
		return nil
	}
	var once []string
	for _, name := range []string{first, second} {
		if name != "" && before.has(empty(name)) {
			once = append(once, singleRow(name))
		}
	}
	return once
}

// filledIn lists what is no longer known of tables behind a statement, wherever in it the tables get rows.
//
// A procedure that is called, a text and a trigger see the temp tables, and a ROLLBACK brings those back that are
// dropped.
func (w *walker) filledIn(s syntax.Stmt, known facts) []string {
	var lost []string
	fill := func(name string) { lost = append(lost, empty(name), singleRow(name)) }
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Exec:
			lost = append(lost, tempFacts(known)...)
		case *syntax.Transaction:
			if n.Verb == "ROLLBACK" {
				lost = append(lost, tempFacts(known)...)
			}
		case *syntax.Other:
			for name := range known.vars {
				lost = append(lost, name)
			}
		case *syntax.Insert:
			fill(rowTarget(n.Target))
			lost = append(lost, throughFacts(n.With, n.Target, known)...)
			lost = append(lost, w.firedFacts(n, known)...)
		case *syntax.Merge:
			fill(rowTarget(n.Target))
			lost = append(lost, throughFacts(n.With, n.Target, known)...)
			lost = append(lost, w.firedFacts(n, known)...)
		case *syntax.Update:
			lost = append(lost, w.firedFacts(n, known)...)
		case *syntax.Delete:
			lost = append(lost, w.firedFacts(n, known)...)
		case *syntax.Output:
			fill(rowTarget(n.Into))
		case *syntax.Select:
			if n.Into != nil {
				fill(n.Into.Last().Value)
			}
		case *syntax.CreateTable:
			fill(n.Name.Last().Value)
		case *syntax.Drop:
			for _, name := range n.Names {
				fill(name.Last().Value)
			}
		}
		return true
	})
	return lost
}

// firedFacts lists what is known of temp tables if a statement may call a trigger: that of its table or, since what is
// changed or deleted can be so in other tables as well, any.
func (w *walker) firedFacts(s syntax.Stmt, known facts) []string {
	name := changedTable(s)
	if name == nil || name.IsTemp() {
		return nil
	}
	_, inserts := s.(*syntax.Insert)
	resolved, err := w.a.resolve(w.e, name)
	if err == nil && w.cat.Table(resolved) != nil && (len(w.triggers) == 0 || inserts && len(w.triggers[resolved.Key()]) == 0) {
		return nil
	}
	return tempFacts(known)
}

// tempFacts lists what is known of temp tables.
func tempFacts(known facts) []string {
	var all []string
	for name := range known.vars {
		if strings.HasPrefix(name[1:], "#") {
			all = append(all, name)
		}
	}
	return all
}

// throughFacts lists what is known of tables if a statement stores rows through a common table expression.
func throughFacts(with []*syntax.CTE, target syntax.TableSource, known facts) []string {
	if !slices.ContainsFunc(with, func(c *syntax.CTE) bool { return same(c.Name.Value, rowTarget(target)) }) {
		return nil
	}
	return slices.Collect(maps.Keys(known.ofTables().vars))
}

// rowTarget returns the name of the temp table or the table variable that a statement changes. Of any other that it may
// return nothing is known.
func rowTarget(t syntax.TableSource) string {
	switch t := t.(type) {
	case *syntax.VariableTable:
		return t.Name
	case *syntax.TableRef:
		return t.Name.Last().Value
	default:
		return ""
	}
}

// local reports the name of a temp table that no other session sees.
func local(name *syntax.ObjectName) bool {
	return name.IsTemp() && !strings.HasPrefix(name.Last().Value, "##")
}

// intoOf returns the table that SELECT … INTO makes.
func intoOf(s *syntax.SelectStmt) *syntax.ObjectName {
	for selected := range syntax.All[*syntax.Select](s.Query.Body) {
		if selected.Into != nil {
			return selected.Into
		}
	}
	return nil
}
