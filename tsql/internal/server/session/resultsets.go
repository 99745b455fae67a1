package session

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// redefinition is the clause WITH RESULT SETS of an EXECUTE: what the call sends gets these names and types, and it
// must send exactly as many sets.
type redefinition struct {
	outer *redefinition // of the EXECUTE within which this one is executed
	sets  [][]binder.Column
	sent  int           // how many sets have begun
	types []value.Type  // that the current set has by itself
	row   []value.Value // the current one, converted
}

// redefined executes a call under its clause WITH RESULT SETS.
func (s *Session) redefined(a *activation, clause *syntax.ResultSets, call func() error) error {
	if clause == nil || clause.Undefined {
		return call()
	}
	r := &redefinition{outer: s.out.redefined}
	for i := range clause.Sets {
		columns, err := describer{s}.defined(a.unit, &clause.Sets[i])
		if err != nil {
			return err
		}
		r.sets = append(r.sets, columns)
	}
	s.out.redefined = r
	err := call()
	s.out.redefined = r.outer
	if err == nil && r.sent < len(r.sets) {
		return fault.New(11536, "EXECUTE", len(r.sets), r.sent)
	}
	return err
}

// begin begins a set and returns the columns that the clause gives it.
func (r *redefinition) begin(columns []binder.Column) ([]binder.Column, error) {
	if r.sent == len(r.sets) {
		return nil, fault.New(11535, "EXECUTE", len(r.sets))
	}
	set := r.sets[r.sent]
	r.sent++
	if len(set) != len(columns) {
		return nil, fault.New(11537, "EXECUTE", len(set), r.sent, len(columns))
	}
	r.types, r.row = make([]value.Type, len(set)), make([]value.Value, len(set))
	for i, c := range columns {
		r.types[i] = c.Type
		if c.Type.Kind != sqltype.Null && sqltype.Assignable(c.Type.Type, set[i].Type.Type) != nil {
			return nil, fault.New(11538, "EXECUTE", set[i].Type.String(), i+1, r.sent, c.Type.String())
		}
	}
	return set, nil
}

// convert makes a row of the current set one of the set that the clause defines.
func (r *redefinition) convert(row []value.Value) ([]value.Value, error) {
	for i, c := range r.sets[r.sent-1] {
		if row[i].IsNull() {
			if !c.Nullable {
				return nil, fault.New(11553, "EXECUTE", i+1, r.sent)
			}
			r.row[i] = row[i]
			continue
		}
		v, err := value.Assign(row[i], r.types[i], c.Type)
		if err != nil {
			return nil, err
		}
		r.row[i] = v
	}
	return r.row, nil
}

// defined are the columns of one set of WITH RESULT SETS.
func (d describer) defined(u *unit, def *syntax.ResultSetDef) ([]binder.Column, error) {
	switch {
	case def.Type != nil:
		_, user, err := define.ResolveType(u.db, &syntax.TypeName{Span: def.Type.Span, Name: def.Type}, u.schema)
		if err != nil {
			return nil, err
		}
		if user == nil || user.Table == nil {
			return nil, fault.New(2715, 1, def.Type.Last().Value)
		}
		return tableColumns(user.Table), nil
	case def.Object != nil:
		return d.definedByObject(def.Object)
	}
	columns := make([]binder.Column, len(def.Columns))
	for i, c := range def.Columns {
		t, _, err := define.ResolveType(u.db, c.Type, u.schema)
		if err != nil {
			return nil, err
		}
		if c.Collation != "" {
			collation, ok := value.CollationByName(c.Collation)
			if !ok {
				return nil, value.UnknownCollation(c.Collation)
			}
			t.Collation = collation
		}
		columns[i] = binder.Column{Name: c.Name.Value, Type: t, Nullable: c.Null != syntax.NullRefused, Computed: true}
	}
	return columns, nil
}

// definedByObject are the columns of a table, a view or a table function, for AS OBJECT.
func (d describer) definedByObject(name *syntax.ObjectName) ([]binder.Column, error) {
	parts := names(name)
	schemaName := ""
	if len(parts) > 1 {
		schemaName = parts[len(parts)-2]
	}
	switch o := d.s.db.Find(schemaName, parts[len(parts)-1], d.s.searchSchema()).(type) {
	case *schema.Table:
		return tableColumns(o), nil
	case *schema.Module:
		list, err := d.Columns(o)
		columns := make([]binder.Column, len(list))
		for i, c := range list {
			columns[i] = binder.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Computed: true}
		}
		return columns, err
	default:
		return nil, fault.New(208, parts[len(parts)-1])
	}
}

func tableColumns(t *schema.Table) []binder.Column {
	columns := make([]binder.Column, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = binder.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Computed: true}
	}
	return columns
}

// redefinedFirst describes the first set of an EXECUTE with a clause WITH RESULT SETS, which says all of it.
func (d describer) redefinedFirst(u *unit, clause *syntax.ResultSets) ([]sysview.ResultColumn, error) {
	if clause.None {
		return nil, nil
	}
	columns, err := d.defined(u, &clause.Sets[0])
	return resultColumns(columns), err
}
