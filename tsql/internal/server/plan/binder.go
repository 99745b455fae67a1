package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// statement is what is counted for a whole statement, views and functions in it included.
type statement struct {
	shape       execute.Shape
	tables      []int // slots of the table variables that are used
	rights      []*right
	definitions []definition // of tables
	options     queryOptions
	plans       []execute.Operator // of subqueries, by number
	main        execute.Operator   // of the statement itself
	draws       map[*schema.Sequence]*draw
}

// binder makes nodes and relations of a tree. A view has a binder of its own, with another Env, for the same statement.
type binder struct {
	*statement

	env *Env
	// inMerge is set while the target of a MERGE is bound.
	inMerge bool
	// depth counts views within views.
	depth int
	// params are the arguments of an inline function, by folded name.
	params map[string]*node
	// inherited are the hints of the reference to the view or common table expression in which the binder is: they hold
	// for the tables that it reads.
	inherited execute.Hints
	// temporal is FOR SYSTEM_TIME of the reference to a table or a view; nil without.
	temporal *systemTime
	// owner is set in a view or a function: what it reads needs no rights if it belongs to its owner.
	owner schema.Object
}

func newBinder(env *Env) *binder {
	b := &binder{statement: &statement{}, env: env}
	if env.Module != nil {
		b.owner = env.Module
	}
	return b
}

// newSlot returns a register that nobody else uses.
func (b *binder) newSlot() int {
	b.shape.Slots++
	return b.shape.Slots - 1
}

// newOnce returns the number of something that is computed once in an execution.
func (b *binder) newOnce() int {
	b.shape.Once++
	return b.shape.Once - 1
}

// newRow returns a register for a row itself.
func (b *binder) newRow() int {
	b.shape.Rows++
	return b.shape.Rows - 1
}

// unsupported is the error for what SQL Server has and this server hasn't.
func (b *binder) unsupported(at diag.Span, format string, args ...any) error {
	where := "batch"
	if b.env.File != nil {
		line, column := b.env.File.Position(at.From)
		where = fmt.Sprintf("%s:%d:%d", b.env.File.Name, line, column)
	}
	return fault.New(fault.Unsupported, fmt.Sprintf("%s is not supported by tsqltest (%s)", fmt.Sprintf(format, args...), where))
}

// absent is the error for an object of the system that SQL Server has and this server has not.
func (b *binder) absent(at diag.Span, name string) error {
	err := b.unsupported(at, "%s", name)
	if e, ok := fault.As(err); ok {
		e.Missing = true
	}
	return err
}

// uses notes a table variable.
func (b *binder) uses(slot int) {
	if !slices.Contains(b.tables, slot) {
		b.tables = append(b.tables, slot)
	}
}

// fold is the form of a name under which it is compared.
func (b *binder) fold(name string) string { return b.env.Database.Fold(name) }

// same reports whether two names are the same.
func (b *binder) same(x, y string) bool { return x == y || b.fold(x) == b.fold(y) }

// collation is the collation of what has none of its own.
func (b *binder) collation() *value.Collation {
	if c := b.env.Database.Collation; c != nil {
		return c
	}
	return value.DefaultCollation
}

// described is a type as messages show it.
func described(t value.Type) string {
	switch t.Kind {
	case sqltype.Null:
		return "NULL"
	case sqltype.NVarChar, sqltype.VarChar, sqltype.VarBinary:
		if t.IsMax() {
			return string(t.Kind) + "(max)"
		}
		return string(t.Kind)
	default:
		return string(t.Kind)
	}
}

// textOf is a qualified name as messages show it.
func textOf(parts []syntax.Ident) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.Value
	}
	return strings.Join(names, ".")
}

// lastOf is the last part of a name.
func lastOf(name *syntax.ObjectName) string { return name.Parts[len(name.Parts)-1].Value }

// isTemp reports names of temporary tables, whatever stands before them.
func isTemp(name *syntax.ObjectName) bool { return strings.HasPrefix(lastOf(name), "#") }

// schemaOf returns the part of a name that names the schema, or "".
func schemaOf(name *syntax.ObjectName) string {
	if i := len(name.Parts) - 2; i >= 0 {
		return name.Parts[i].Value
	}
	return ""
}
