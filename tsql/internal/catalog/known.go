package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Letters that stand in a text for what isn't known of it. They are letters so that the text is still read where the
// part is a name or a piece of one. No name that people use has them.
const (
	// Hole stands for anything.
	Hole = "\ua7ff"
	// noKey stands for the name of a constraint that is no key: it was read from a view that has no keys.
	noKey = "\ua7fe"
)

// HasHole reports whether a part of a text isn't known.
func HasHole(text string) bool { return strings.ContainsAny(text, Hole+noKey) }

// Known follows the values of variables, as far as they are texts that the statements before tell. It is for statements
// that run one after the other: whoever meets a branch or a loop calls [Known.Forget] for it.
type Known struct {
	c      *Catalog
	vars   map[string]text
	column text // the value of a column in the query that is being evaluated
}

// maxText is how many bytes of a text are followed: one that doubles in each line must not fill the memory.
const maxText = 1 << 22

// text is the value of an expression with its type, which says where the server cuts it, and with the place where its
// first character is written; 0 if that is nowhere.
type text struct {
	value string
	of    sqltype.Type
	at    diag.Pos
	null  bool
}

// unknown is the value of an expression of which nothing is known.
var unknown = text{value: Hole, of: sqltype.Type{Kind: sqltype.NVarChar, Length: sqltype.Max}}

// NewKnown returns what is known at the beginning of a batch: nothing.
func NewKnown(c *Catalog) *Known { return &Known{c: c, vars: map[string]text{}} }

// Text returns the text that an expression has. What isn't known of it is [Hole].
func (k *Known) Text(x syntax.Expr) string { return k.eval(x).value }

// Part returns the text that an expression has as a part of the file in which it is written.
func (k *Known) Part(of *diag.File, x syntax.Expr) *diag.File {
	known := k.eval(x)
	return diag.NewPart(of, cmp.Or(known.at, x.Range().From), known.value)
}

// Follow notes what a statement without branches does to variables.
func (k *Known) Follow(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.Declare:
		for i := range s.Vars {
			k.declare(&s.Vars[i])
		}
	case *syntax.SetVariable:
		k.assign(s.Variable, s.Op, k.eval(s.X))
	case *syntax.SelectStmt:
		k.selects(s)
	default:
		k.Forget(s)
	}
}

// declare notes a variable. Without a value it is NULL.
func (k *Known) declare(d *syntax.VarDecl) {
	if d.Type == nil {
		return
	}
	of, _, err := k.c.Type(d.Type)
	if err != nil {
		of = unknown.of
	}
	k.vars[Fold(d.Name)] = text{null: true, of: of}
	if d.Init != nil {
		k.store(d.Name, k.eval(d.Init))
	}
}

// store gives a variable a value, which is cut to its type.
func (k *Known) store(name string, value text) {
	v, declared := k.vars[Fold(name)]
	if !declared {
		return // a finding of package analyze
	}
	k.vars[Fold(name)] = value.as(v.of)
}

// assign is SET @v op x.
func (k *Known) assign(v *syntax.Variable, op string, value text) {
	if v == nil {
		return
	}
	switch op {
	case "=":
		k.store(v.Name, value)
	case "+=":
		k.store(v.Name, concat(k.vars[Fold(v.Name)], value))
	default:
		k.store(v.Name, unknown)
	}
}

// selects is SELECT @v = x, which is taken to find one row. Of a text that grows by one piece for each row that is the
// first piece: the others define as much, or as little.
func (k *Known) selects(s *syntax.SelectStmt) {
	q, ok := s.Query.Body.(*syntax.Select)
	if !ok {
		k.Forget(s)
		return
	}
	for i := range q.Items {
		k.assign(q.Items[i].Variable, q.Items[i].AssignOp, k.ofRow(q, q.Items[i].X))
	}
}

// ofRow returns the value of an expression in a row of a query. Of columns nothing is known but that the name of a
// constraint is not that of a key, if it was looked up among others.
func (k *Known) ofRow(q *syntax.Select, x syntax.Expr) text {
	outer := k.column
	k.column = unknown
	for _, src := range q.From {
		for ref := range syntax.All[*syntax.TableRef](src) {
			switch Fold(ref.Name.Last().Value) {
			case "default_constraints", "check_constraints", "foreign_keys", "foreign_key_columns":
				k.column.value = noKey
			}
		}
	}
	value := k.eval(x)
	k.column = outer
	return value
}

// Forget makes the variables unknown that a statement may assign.
func (k *Known) Forget(s syntax.Stmt) {
	if len(k.vars) == 0 {
		return
	}
	forget := func(vars ...*syntax.Variable) {
		for _, v := range vars {
			if v != nil {
				k.store(v.Name, unknown)
			}
		}
	}
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SetVariable:
			forget(n.Variable)
		case *syntax.SelectItem:
			forget(n.Variable)
		case *syntax.Assignment:
			forget(n.Variable)
		case *syntax.CursorStmt:
			forget(n.Into...)
		case *syntax.Exec:
			forget(n.Status)
			for i := range n.Args {
				if v, ok := n.Args[i].X.(*syntax.Variable); ok && n.Args[i].Output {
					forget(v)
				}
			}
		case *syntax.Declare:
			for i := range n.Vars {
				if d := &n.Vars[i]; d.Init != nil {
					k.store(d.Name, unknown)
				}
			}
		}
		return true
	})
}

// forgetAll makes all variables unknown: at a label, which any GOTO may have led to.
func (k *Known) forgetAll() {
	for name := range maps.Keys(k.vars) {
		k.store(name, unknown)
	}
}

// eval returns the value of an expression.
func (k *Known) eval(x syntax.Expr) text {
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Literal:
		return literalText(x)
	case *syntax.Variable:
		if v, ok := k.vars[Fold(x.Name)]; ok {
			return v
		}
	case *syntax.Collate:
		return k.eval(x.X)
	case *syntax.ColumnRef:
		if k.column.value != "" {
			return k.column
		}
	case *syntax.Subquery:
		if q, ok := x.Query.Body.(*syntax.Select); ok && len(q.Items) == 1 && x.Query.For == nil {
			return k.ofRow(q, q.Items[0].X)
		}
	case *syntax.Binary:
		if x.Op == "+" {
			return concat(k.eval(x.X), k.eval(x.Y))
		}
	case *syntax.Cast:
		if to, err := k.c.CastType(x.Type); err == nil && x.Style == nil {
			return k.eval(x.X).as(to)
		}
	case *syntax.Call:
		return k.call(x)
	}
	return unknown
}

// literalText is the value of a constant, if that is a text.
func literalText(x *syntax.Literal) text {
	if x.Kind == syntax.NullLiteral {
		return text{null: true, of: sqltype.StringLiteral("", false)}
	}
	wide := x.Kind == syntax.NStringLiteral
	if !wide && x.Kind != syntax.StringLiteral {
		return unknown
	}
	at := x.From + 1 // behind the quote
	if wide {
		at++
	}
	return text{value: x.Value, of: sqltype.StringLiteral(x.Value, wide), at: at}
}

// call is the value of the functions that scripts put texts together with.
func (k *Known) call(x *syntax.Call) text {
	if len(x.Name.Parts) > 1 || len(x.Args) == 0 {
		return unknown
	}
	switch Fold(x.Name.Parts[0].Value) {
	case "char", "nchar":
		if l, ok := x.Args[0].(*syntax.Literal); ok && l.Kind == syntax.IntLiteral {
			if n, _ := strconv.Atoi(l.Value); n > 0 && n < 128 {
				return text{value: string(rune(n)), of: sqltype.StringLiteral(" ", true)}
			}
		}
	case "quotename":
		if name := k.eval(x.Args[0]); len(x.Args) == 1 {
			quoted := "[" + strings.ReplaceAll(name.value, "]", "]]") + "]"
			return text{value: quoted, of: sqltype.Type{Kind: sqltype.NVarChar, Length: 258}, null: name.null}
		}
	case "concat":
		all := text{of: sqltype.StringLiteral("", false)}
		for _, arg := range x.Args {
			piece := k.eval(arg)
			piece.null = false
			all = concat(all, piece)
		}
		return all
	case "string_agg":
		return concat(k.eval(x.Args[0]), k.eval(x.Args[len(x.Args)-1])) // as of a text that grows by SELECT
	case "isnull", "coalesce":
		for _, arg := range x.Args {
			if value := k.eval(arg); !value.null {
				return value
			}
		}
	}
	return unknown
}

// concat is x + y, which the server cuts unless one of them is of a (max) type. A text with holes is not cut: how long
// it is isn't known.
func concat(x, y text) text {
	of, err := sqltype.Arithmetic("+", x.of, y.of)
	if err != nil || !of.IsCharacter() || len(x.value)+len(y.value) > maxText {
		return unknown
	}
	// Two parts that are not known are one.
	value := x.value + y.value
	if strings.HasSuffix(x.value, Hole) {
		value = x.value + strings.TrimPrefix(y.value, Hole)
	}
	return text{value: value, of: of, at: cmp.Or(x.at, y.at), null: x.null || y.null}.as(of)
}

// as returns a text as a value of a type. What is no text then isn't known.
func (t text) as(of sqltype.Type) text {
	switch {
	case t.null:
		return text{null: true, of: of}
	case !of.IsCharacter():
		return text{value: Hole, of: of}
	case HasHole(t.value) || of.Length < 0 || of.IsLOB():
		return text{value: t.value, of: of, at: t.at}
	}
	units := utf16.Encode([]rune(t.value))
	if len(units) > of.Length {
		units = units[:of.Length]
	} else if of.Kind == sqltype.Char || of.Kind == sqltype.NChar {
		units = append(units, slices.Repeat([]uint16{' '}, of.Length-len(units))...)
	}
	return text{value: string(utf16.Decode(units)), of: of, at: t.at}
}
