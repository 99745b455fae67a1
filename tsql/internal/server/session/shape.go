package session

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// shape finds statements that stand where they may not, before any of them is executed.
type shape struct {
	s      *Session
	u      *unit
	labels map[string]bool
	// open are the labels of the lists around the present statement, to which GOTO may jump.
	open []map[string]bool
	// value says that RETURN may have a value: in procedures and scalar functions.
	value    bool
	function bool
}

// place is what surrounds a statement.
type place struct{ loop, catch bool }

// checkShape checks the statements of a unit.
func (s *Session) checkShape(u *unit) error {
	c := shape{s: s, u: u, labels: map[string]bool{}}
	switch def := u.moduleStatement().(type) {
	case *syntax.CreateProcedure:
		c.value = true
	case *syntax.CreateFunction:
		c.function, c.value = true, def.Returns != nil
	}
	for _, stmt := range u.stmts {
		if isModule(stmt) {
			continue
		}
		for l := range syntax.All[*syntax.Label](stmt) {
			if c.labels[fold(l.Label.Value)] {
				return u.at(fault.New(132, l.Label.Value), l.Span)
			}
			c.labels[fold(l.Label.Value)] = true
		}
	}
	return c.list(u.stmts, place{})
}

func (c *shape) list(stmts []syntax.Stmt, in place) error {
	labels := map[string]bool{}
	for _, stmt := range stmts {
		if l, ok := stmt.(*syntax.Label); ok {
			labels[fold(l.Label.Value)] = true
		}
	}
	c.open = append(c.open, labels)
	defer func() { c.open = c.open[:len(c.open)-1] }()
	for _, stmt := range stmts {
		if err := c.statement(stmt, in); err != nil {
			return err
		}
	}
	return nil
}

// one checks a statement that another one has, which may be none.
func (c *shape) one(stmt syntax.Stmt, in place) error {
	if stmt == nil {
		return nil
	}
	return c.statement(stmt, in)
}

func (c *shape) statement(stmt syntax.Stmt, in place) error {
	if isModule(stmt) {
		return nil
	}
	if c.function {
		if err := c.pure(stmt); err != nil {
			return c.u.at(err, stmt.Range())
		}
	}
	switch st := stmt.(type) {
	case *syntax.Block:
		return c.list(st.Stmts, in)
	case *syntax.If:
		if err := c.one(st.Then, in); err != nil {
			return err
		}
		return c.one(st.Else, in)
	case *syntax.While:
		return c.one(st.Body, place{true, in.catch})
	case *syntax.TryCatch:
		if err := c.list(st.Try, in); err != nil {
			return err
		}
		return c.list(st.Catch, place{in.loop, true})
	default:
		return c.u.at(c.misplaced(stmt, in), stmt.Range())
	}
}

// misplaced is the error of a statement that may not stand where it does.
func (c *shape) misplaced(stmt syntax.Stmt, in place) error {
	switch st := stmt.(type) {
	case *syntax.Break:
		if !in.loop {
			return fault.New(135)
		}
	case *syntax.Continue:
		if !in.loop {
			return fault.New(136)
		}
	case *syntax.Goto:
		return c.jump(st)
	case *syntax.Return:
		if st.X != nil && !c.value {
			return fault.New(178)
		}
	case *syntax.Throw:
		if st.Number == nil && !in.catch {
			return fault.New(10704)
		}
	}
	return nil
}

// jump checks GOTO, which finds only labels of its own list and of those around it.
func (c *shape) jump(st *syntax.Goto) error {
	label := fold(st.Label.Value)
	if !c.labels[label] {
		return fault.New(133, st.Label.Value)
	}
	if !slices.ContainsFunc(c.open, func(labels map[string]bool) bool { return labels[label] }) {
		return c.s.unsupported(c.u, st.Span, "GOTO into a block")
	}
	return nil
}

// pure refuses what a function may not do: changing anything but its own table variables, talking to the client, and
// asking for values that come from nowhere.
func (c *shape) pure(stmt syntax.Stmt) error {
	var read syntax.Node = stmt
	switch st := stmt.(type) {
	case *syntax.Block:
		return nil // its statements are visited
	case *syntax.If:
		read = st.Cond
	case *syntax.While:
		read = st.Cond
	case *syntax.TryCatch:
		return fault.New(443, "BEGIN TRY")
	case *syntax.SelectStmt:
		if sends(st.Query) {
			return fault.New(444)
		}
	default:
		if word := sideEffect(stmt); word != "" {
			return fault.New(443, word)
		}
	}
	for call := range syntax.All[*syntax.Call](read) {
		name := strings.ToLower(call.Name.Last().Value)
		if len(call.Name.Parts) == 1 && (name == "rand" || name == "newid" || name == "newsequentialid") {
			return fault.New(443, name)
		}
	}
	return nil
}

// sends reports whether a query returns rows to the client.
func sends(q *syntax.Query) bool {
	body, ok := q.Body.(*syntax.Select)
	return !ok || !slices.ContainsFunc(body.Items, func(i syntax.SelectItem) bool { return i.Variable != nil })
}

// sideEffect names what a statement does to others; it is empty if it does nothing.
func sideEffect(stmt syntax.Stmt) string {
	switch st := stmt.(type) {
	case *syntax.Insert:
		if st.Exec != nil {
			return "INSERT EXEC"
		}
		if !ownTable(st.Target, nil) {
			return "INSERT"
		}
	case *syntax.Update:
		if len(st.With) == 0 && !ownTable(st.Target, st.From) {
			return "UPDATE"
		}
	case *syntax.Delete:
		if len(st.With) == 0 && !ownTable(st.Target, st.From) {
			return "DELETE"
		}
	case *syntax.Merge:
		if !ownTable(st.Target, nil) {
			return "MERGE"
		}
	case *syntax.Truncate:
		return "TRUNCATE TABLE"
	case *syntax.Exec:
		if st.SQL != nil {
			return "EXECUTE STRING"
		}
	case *syntax.Transaction:
		return st.Verb + " TRANSACTION"
	case *syntax.SetOption:
		return "SET OPTION ON/OFF"
	case *syntax.Print:
		return "PRINT"
	case *syntax.Raiserror:
		return "RAISERROR"
	case *syntax.Throw:
		return "THROW"
	case *syntax.Waitfor:
		return "WAITFOR"
	}
	return ""
}

// ownTable reports whether a target is a table variable, or the alias of one in FROM.
func ownTable(target syntax.TableSource, from []syntax.TableSource) bool {
	ref, ok := target.(*syntax.TableRef)
	if !ok {
		return true
	}
	for _, source := range from {
		for v := range syntax.All[*syntax.VariableTable](source) {
			if v.Alias != nil && len(ref.Name.Parts) == 1 && fold(v.Alias.Value) == fold(ref.Name.Parts[0].Value) {
				return true
			}
		}
	}
	return false
}
