package binder

import (
	"math/big"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// tableFunction binds a table function of the server's.
type tableFunction func(b *Binder, s *scope, f *syntax.FunctionTable, maybe bool) (*Source, error)

// tableFunctions are those that are called without a schema.
var tableFunctions map[string]tableFunction

func init() { //nolint:gochecknoinits // the functions call the binder, which reads the table
	tableFunctions = map[string]tableFunction{
		"OPENJSON": (*Binder).openJSON, "STRING_SPLIT": (*Binder).stringSplit, "GENERATE_SERIES": (*Binder).generateSeries,
	}
	// What needs full-text indexes, other servers or XML.
	for _, name := range []string{"CONTAINSTABLE", "FREETEXTTABLE", "OPENDATASOURCE", "OPENQUERY", "OPENROWSET", "OPENXML"} {
		tableFunctions[name] = func(b *Binder, _ *scope, f *syntax.FunctionTable, _ bool) (*Source, error) {
			return nil, b.Unsupported(f.Span, "%s", name)
		}
	}
}

// rowMaker makes the rows of a table function from its arguments.
type rowMaker func(r *execute.Run, args []execute.Value) (func() ([]execute.Value, bool, error), error)

// generated makes the source of a table function.
func (b *Binder) generated(f *syntax.FunctionTable, args []*Node, columns []Column, maybe bool, rows rowMaker) (*Source, error) {
	name := f.Call.Name.Last().Value
	r := &RowsRel{Args: args, Rows: functionRows, text: strings.ToLower(name)}
	var out []OutColumn
	for _, c := range columns {
		slot := b.NewSlot()
		r.slots = append(r.slots, slot)
		n := ColumnNode(slot, b.Collated(c.Type), c.Nullable)
		out = append(out, OutColumn{name: c.Name, Node: n, computed: true})
	}
	r.Make = func(args []Code, need Set) execute.Operator {
		columns, list := Loads(r.slots, need), Operands(args)
		return &execute.Rows{Text: r.text, Open: func(run *execute.Run) (func() (bool, error), error) {
			values := make([]execute.Value, len(list))
			for i, x := range list {
				var err error
				if values[i], err = x(run); err != nil {
					return nil, err
				}
			}
			next, err := rows(run, values)
			if err != nil || next == nil {
				return nil, err
			}
			return func() (bool, error) {
				row, ok, err := next()
				if err != nil || !ok {
					return false, err
				}
				for _, c := range columns {
					run.Slots[c.Slot] = row[c.Ordinal]
				}
				return true, nil
			}, nil
		}}
	}
	return b.named(r, out, name, f.Columns, maybe)
}

// argumentsOf binds the arguments of a table function; there are at least low and at most high.
func (b *Binder) argumentsOf(s *scope, f *syntax.FunctionTable, low, high int) ([]*Node, error) {
	if n := len(f.Call.Args); n < low || n > high {
		return nil, fault.New(174, strings.ToLower(f.Call.Name.Last().Value), low)
	}
	var args []*Node
	for _, x := range f.Call.Args {
		n, err := b.expr(s, x)
		if err != nil {
			return nil, err
		}
		args = append(args, n)
	}
	return args, nil
}

// openJSON binds OPENJSON: with WITH the columns that it lists, or else key, value and type.
func (b *Binder) openJSON(s *scope, f *syntax.FunctionTable, maybe bool) (*Source, error) {
	args, err := b.argumentsOf(s, f, 1, 2)
	if err != nil {
		return nil, err
	}
	for i, to := range []value.Type{value.NVarChar(sqltype.Max), value.NVarChar(4000)} {
		if i < len(args) {
			if args[i], err = b.implicitly(args[i], to); err != nil {
				return nil, err
			}
		}
	}
	path := func(args []execute.Value) string {
		if len(args) > 1 {
			return args[1].Str()
		}
		return ""
	}
	if f.With != nil {
		return b.shapedJSON(f, args, maybe, path)
	}
	columns := []Column{
		{Name: "key", Type: value.NVarChar(4000)},
		{Name: "value", Type: value.NVarChar(sqltype.Max), Nullable: true},
		{Name: "type", Type: value.OfKind(sqltype.TinyInt)},
	}
	return b.generated(f, args, columns, maybe, func(_ *execute.Run, args []execute.Value) (func() ([]execute.Value, bool, error), error) {
		if args[0].IsNull() {
			return nil, nil
		}
		rows, err := function.OpenJSON(args[0].Str(), path(args))
		if err != nil {
			return nil, err
		}
		return func() ([]execute.Value, bool, error) {
			ok, err := rows.Next()
			if err != nil || !ok {
				return nil, false, err
			}
			key, val, kind := rows.Row()
			return []execute.Value{key, val, kind}, true, nil
		}, nil
	})
}

// shapedJSON is OPENJSON … WITH.
func (b *Binder) shapedJSON(f *syntax.FunctionTable, args []*Node, maybe bool, path func([]execute.Value) string) (*Source, error) {
	var columns []Column
	var shape []function.JSONColumn
	for _, c := range f.With {
		t, err := b.declaredType(c.Type)
		if err != nil {
			return nil, err
		}
		if c.AsJSON && (t.Kind != sqltype.NVarChar || !t.IsMax()) {
			return nil, fault.New(13618)
		}
		if t.IsCharacter() {
			t.Collation = b.collation()
		}
		jc := function.JSONColumn{Name: c.Name.Value, Type: t, AsJSON: c.AsJSON}
		if c.Path != nil {
			jc.Path = c.Path.Value
		}
		shape = append(shape, jc)
		columns = append(columns, Column{Name: c.Name.Value, Type: t, Nullable: true})
	}
	made, err := function.NewJSONShape(shape)
	if err != nil {
		return nil, err
	}
	return b.generated(f, args, columns, maybe, func(_ *execute.Run, args []execute.Value) (func() ([]execute.Value, bool, error), error) {
		if args[0].IsNull() {
			return nil, nil
		}
		rows, err := made.Open(args[0].Str(), path(args))
		if err != nil {
			return nil, err
		}
		return rows.Next, nil
	})
}

// stringSplit binds STRING_SPLIT: pieces as long as the whole at most.
func (b *Binder) stringSplit(s *scope, f *syntax.FunctionTable, maybe bool) (*Source, error) {
	args, err := b.argumentsOf(s, f, 2, 3)
	if err != nil {
		return nil, err
	}
	piece := args[0].Type
	if piece.IsNational() || args[1].Type.IsNational() {
		piece = value.NVarChar(min(piece.Length, 4000)).With(piece.Collation)
	} else {
		piece = value.VarChar(piece.Length).With(piece.Collation)
	}
	if !args[0].Type.IsCharacter() {
		piece = value.NVarChar(4000)
		if args[0], err = b.implicitly(args[0], value.NVarChar(sqltype.Max)); err != nil {
			return nil, err
		}
	}
	if args[1], err = b.implicitly(args[1], value.NVarChar(2)); err != nil { // a second character is told from one
		return nil, err
	}
	columns := []Column{{Name: "value", Type: piece}}
	if len(args) == 3 {
		v, ok := args[2].ConstantValue()
		if !ok {
			return nil, fault.New(8748)
		}
		if v.Int() == 1 {
			columns = append(columns, Column{Name: "ordinal", Type: value.OfKind(sqltype.BigInt)})
		}
	}
	return b.generated(f, args, columns, maybe, func(_ *execute.Run, args []execute.Value) (func() ([]execute.Value, bool, error), error) {
		separator := args[1].Str()
		if value.UTF16Len(separator) != 1 {
			return nil, fault.New(214, "separator", "nchar(1)/nvarchar(1)")
		}
		if args[0].IsNull() {
			return nil, nil
		}
		rest, more, ordinal := args[0].Str(), true, int64(0)
		return func() ([]execute.Value, bool, error) {
			if !more {
				return nil, false, nil
			}
			var part string
			part, rest, more = strings.Cut(rest, separator)
			ordinal++
			return []execute.Value{value.OfString(part), value.OfInt(ordinal)}, true, nil
		}, nil
	})
}

// generateSeries binds GENERATE_SERIES of whole numbers and decimals.
func (b *Binder) generateSeries(s *scope, f *syntax.FunctionTable, maybe bool) (*Source, error) {
	if b.before2022() {
		return nil, fault.New(208, f.Call.Name.Last().Value)
	}
	args, err := b.argumentsOf(s, f, 2, 3)
	if err != nil {
		return nil, err
	}
	t, _, err := b.unite(args)
	if err != nil {
		return nil, err
	}
	if !t.IsExactInteger() && t.Kind != sqltype.Decimal {
		return nil, fault.New(5373)
	}
	for i := range args {
		args[i] = b.converted(args[i], t)
	}
	return b.generated(f, args, []Column{{Name: "value", Type: t}}, maybe, func(_ *execute.Run, args []execute.Value) (func() ([]execute.Value, bool, error), error) {
		for _, a := range args {
			if a.IsNull() {
				return nil, nil
			}
		}
		if t.Kind == sqltype.Decimal {
			return decimalSeries(args)
		}
		return wholeSeries(args)
	})
}

func wholeSeries(args []execute.Value) (func() ([]execute.Value, bool, error), error) {
	at, stop, step := args[0].Int(), args[1].Int(), int64(1)
	if stop < at {
		step = -1
	}
	if len(args) > 2 {
		step = args[2].Int()
	}
	if step == 0 {
		return nil, fault.New(4199, 0, 3, "generate_series")
	}
	done := step > 0 && at > stop || step < 0 && at < stop
	return func() ([]execute.Value, bool, error) {
		if done {
			return nil, false, nil
		}
		v := at
		left := uint64(stop) - uint64(at)
		width := uint64(step)
		if step < 0 {
			left, width = uint64(at)-uint64(stop), uint64(-step)
		}
		if left < width {
			done = true
		} else {
			at += step
		}
		return []execute.Value{value.OfInt(v)}, true, nil
	}, nil
}

func decimalSeries(args []execute.Value) (func() ([]execute.Value, bool, error), error) {
	at, scale := args[0].Decimal()
	stop, stopScale := args[1].Decimal()
	step, stepScale := big.NewInt(1), 0
	if len(args) > 2 {
		step, stepScale = args[2].Decimal()
	}
	widest := max(scale, stopScale, stepScale)
	at, stop, step = scaled(at, widest-scale), scaled(stop, widest-stopScale), scaled(step, widest-stepScale)
	if len(args) < 3 && stop.Cmp(at) < 0 {
		step.Neg(step)
	}
	if step.Sign() == 0 {
		return nil, fault.New(4199, 0, 3, "generate_series")
	}
	return func() ([]execute.Value, bool, error) {
		if at.Cmp(stop)*step.Sign() > 0 {
			return nil, false, nil
		}
		v := value.OfDecimal(new(big.Int).Set(at), widest)
		at = new(big.Int).Add(at, step)
		return []execute.Value{v}, true, nil
	}, nil
}

// scaled is n with more digits behind the point.
func scaled(n *big.Int, digits int) *big.Int {
	factor := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	return new(big.Int).Mul(n, factor)
}
