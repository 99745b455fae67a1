package session

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// bulk is an INSERT BULK that waits for its rows, which the client sends with its next request.
type bulk struct {
	text    string // INSERT … EXEC with the target and the columns
	options planner.BulkOptions
}

// bulkWords begin a batch that announces rows.
const bulkWords = "INSERT BULK "

// announcesRows reports whether a batch is INSERT BULK. It is no statement of T-SQL: only drivers send it, alone.
func announcesRows(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) > len(bulkWords) && strings.EqualFold(text[:len(bulkWords)], bulkWords)
}

// announce reads INSERT BULK table (column type, …) WITH (options). The columns are read as those of a table are.
func (s *Session) announce(text string) error {
	text = strings.TrimSpace(text)[len(bulkWords):]
	end := closing(text)
	script, found := syntax.Parse(diag.NewFile("batch", "CREATE TABLE "+text[:end]))
	if len(found) > 0 {
		return s.refuse(syntaxError(found))
	}
	table, ok := script.Batches[0].Stmts[0].(*syntax.CreateTable)
	if !ok || table.Def == nil {
		return s.refuse(fault.New(102, text))
	}
	next := &bulk{}
	var hints []string
	for _, option := range bulkOptions(text[end:]) {
		switch option {
		case "CHECK_CONSTRAINTS":
			next.options.Checks = true
		case "FIRE_TRIGGERS":
			next.options.Triggers = true
		case "KEEP_NULLS":
			next.options.KeepNulls = true
		case "TABLOCK":
			hints = append(hints, "TABLOCK")
		case "KILOBYTES_PER_BATCH", "ROWS_PER_BATCH", "ORDER": // of the optimizer
		default:
			return s.refuse(fault.New(fault.Unsupported, fmt.Sprintf("INSERT BULK with %s is not supported by tsqltest", option)))
		}
	}
	var columns []string
	for _, c := range table.Def.Columns {
		columns = append(columns, quote(c.Name.Value))
	}
	var name []string
	for _, part := range table.Name.Parts {
		name = append(name, quote(part.Value))
	}
	with := ""
	if hints != nil {
		with = " WITH (" + strings.Join(hints, ", ") + ")"
	}
	next.text = fmt.Sprintf("INSERT INTO %s%s (%s) EXEC rows", strings.Join(name, "."), with, strings.Join(columns, ", "))
	s.announced = next
	s.done("", 0, false)
	return nil
}

// closing is where the list of columns ends, behind its parenthesis: quotes and brackets may hold others.
func closing(text string) int {
	depth := 0
	var quoted byte
	for i := range len(text) {
		c := text[i]
		switch {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '[':
			quoted = ']'
		case c == '"' || c == '\'':
			quoted = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// bulkOptions are the names in WITH (…), in upper case and without their values.
func bulkOptions(text string) []string {
	text = strings.TrimSpace(text)
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(strings.ToUpper(text), "WITH")), "("), ")")
	var names []string
	depth := 0
	for _, part := range strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ',' && depth == 0
	}) {
		name := strings.TrimSpace(part)
		if at := strings.IndexAny(name, " =("); at >= 0 {
			name = name[:at]
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// loadRows stores the rows of an INSERT BULK.
func (s *Session) loadRows(r request.Bulk) error {
	announced := s.announced
	s.announced = nil
	if announced == nil {
		return s.refuse(fault.New(fault.Unsupported, "rows without INSERT BULK are not supported by tsqltest"))
	}
	file := diag.NewFile("batch", announced.text)
	script, found := syntax.Parse(file)
	if len(found) > 0 {
		return s.refuse(syntaxError(found))
	}
	st, ok := script.Batches[0].Stmts[0].(*syntax.Insert)
	if !ok {
		return s.refuse(fault.New(102, announced.text))
	}
	set := planner.Rows{Values: r.Rows, Types: make([]value.Type, len(r.Columns))}
	for i, c := range r.Columns {
		set.Types[i] = c.Type
	}
	a := s.enter(s.newUnit(file, s.defaultSchema()), nil)
	err := s.storeBulk(a, st, announced.options, set)
	if err != nil {
		err = s.failed(a, st.Range(), err)
	}
	s.leave(a)
	return s.ended(err)
}

func (s *Session) storeBulk(a *activation, st *syntax.Insert, options planner.BulkOptions, set planner.Rows) error {
	p, err := planned(s, a.unit, st, func(env *binder.Env) (*planner.RowInsert, error) { return planner.InsertBulk(env, st, options) })
	if err != nil {
		return err
	}
	if s.transaction.doomed {
		return fault.New(3930)
	}
	scope := s.begin()
	n, err := p.Run(&a.frame, []planner.Rows{set}, s.sendRow)
	if err := s.end(scope, err); err != nil {
		return terminated(err)
	}
	s.rowCount = n
	s.done("INSERT", n, false)
	return nil
}
