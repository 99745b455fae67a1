package binder

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// maxDepth is how deep views and functions may refer to each other, as in SQL Server.
const maxDepth = 32

// fileOf is the text in which the tree of a module counts, for positions in messages.
func fileOf(m *schema.Module) *diag.File {
	if m.File != nil {
		return m.File
	}
	return diag.NewFile(schema.QualifiedName(m), m.Text)
}

// view expands a view.
func (b *Binder) view(m *schema.Module, def *syntax.CreateView, maybe bool) (*Source, error) {
	inside := b.inside(m)
	inside.temporal = b.temporal
	if inside.depth > maxDepth {
		return nil, fault.New(217, maxDepth)
	}
	r, columns, err := inside.subquery(&scope{}, def.Query, false)
	if err != nil {
		return nil, err
	}
	return b.named(r, columns, m.Name, def.Columns, maybe)
}

// functionTable binds a function in FROM.
func (b *Binder) functionTable(s *scope, f *syntax.FunctionTable, maybe bool) (*Source, error) {
	name := f.Call.Name.Last().Value
	var src *Source
	var err error
	if bind := tableFunctions[strings.ToUpper(name)]; bind != nil && len(f.Call.Name.Parts) == 1 {
		src, err = bind(b, s, f, maybe)
	} else {
		src, err = b.userTable(s, f, maybe)
	}
	if err != nil {
		return nil, err
	}
	src.Name = name
	if f.Alias != nil {
		src.Name = f.Alias.Value
	}
	return src, nil
}

// userTable binds a table function that the user has made, or one of the system.
func (b *Binder) userTable(s *scope, f *syntax.FunctionTable, maybe bool) (*Source, error) {
	m, ok := b.object(f.Call.Name).(*schema.Module)
	var def *syntax.CreateFunction
	if ok {
		def, _ = m.Stmt.(*syntax.CreateFunction)
	}
	if def == nil || def.Returns != nil {
		if v := sysview.LookupFunction(f.Call.Name.Schema(), f.Call.Name.Last().Value); v != nil {
			return b.systemFunction(s, v, f, maybe)
		}
		if sysview.FunctionElsewhere(b.databaseNamed(f.Call.Name), f.Call.Name.Schema(), f.Call.Name.Last().Value) {
			return nil, b.absent(f.Call.Span, syntax.Dotted(f.Call.Name.Parts))
		}
		return nil, fault.New(208, syntax.Dotted(f.Call.Name.Parts))
	}
	b.needs("SELECT", m)
	inside := b.inside(m)
	if inside.depth > maxDepth {
		return nil, fault.New(217, maxDepth)
	}
	args, tables, err := b.moduleArguments(s, inside, m, def.Params, f.Call)
	if err != nil {
		return nil, err
	}
	if def.Inline != nil {
		if len(tables) > 0 {
			return nil, b.Unsupported(f.Span, "a table as an argument of an inline function")
		}
		return b.inline(inside, m, def, args, f, maybe)
	}
	return b.multiStatement(inside, m, def, args, tables, f, maybe)
}

// inline expands an inline function: its parameters are the arguments.
func (b *Binder) inline(inside *Binder, m *schema.Module, def *syntax.CreateFunction, args []*Node, f *syntax.FunctionTable, maybe bool) (*Source, error) {
	inside.params = map[string]*Node{}
	before := &Block{From: OneRel{}}
	for i, p := range def.Params {
		n := *args[i]
		n.literal = nil
		arg := &n
		if arg.Kind != IsColumn && !cheap(arg) {
			arg = b.passed(before, arg, true)
			arg.Nullable = n.Nullable
		}
		inside.params[b.Fold(p.Name)] = arg
	}
	r, columns, err := inside.subquery(&scope{}, def.Inline, false)
	if err != nil {
		return nil, err
	}
	src, err := b.named(r, columns, m.Name, f.Columns, maybe)
	if err == nil && len(before.Computes) > 0 {
		src.Rel = &JoinRel{Kind: "INNER", X: before, Y: r}
	}
	return src, err
}

// multiStatement calls a function with a body, which fills a table.
func (b *Binder) multiStatement(inside *Binder, m *schema.Module, def *syntax.CreateFunction, args []*Node, tables []int, f *syntax.FunctionTable, maybe bool) (*Source, error) {
	r := &RowsRel{Args: args, Rows: moduleRows, text: "call " + schema.QualifiedName(m)}
	var columns []OutColumn
	for i := range def.Table.Columns {
		c := &def.Table.Columns[i]
		if c.Type == nil {
			return nil, inside.Unsupported(c.Span, "a computed column in the table of a function")
		}
		t, err := inside.declaredType(c.Type)
		if err != nil {
			return nil, err
		}
		if t.IsCharacter() {
			t.Collation = b.collation()
			if c.Collation != "" {
				if t.Collation, err = b.collationNamed(c.Collation); err != nil {
					return nil, err
				}
			}
		}
		slot := b.NewSlot()
		r.slots = append(r.slots, slot)
		columns = append(columns, OutColumn{name: c.Name.Value, Node: ColumnNode(slot, t, c.Null != syntax.NullRefused)})
	}
	r.Make = func(args []Code, need Set) execute.Operator {
		return execute.CallTable(m, Operands(args), tables, Loads(r.slots, need), r.text)
	}
	return b.named(r, columns, m.Name, f.Columns, maybe)
}

// Loads returns which columns of a row go into which slots: those that somebody needs.
func Loads(slots []int, need Set) []execute.Load {
	var list []execute.Load
	for i, slot := range slots {
		if slot >= 0 && need.Has(slot) {
			list = append(list, execute.Load{Ordinal: i, Slot: slot})
		}
	}
	return list
}
