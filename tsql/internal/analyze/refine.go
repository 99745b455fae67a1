package analyze

import (
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// refine notes the columns that are not NULL in the rows for which a condition holds.
//
//	FROM dbo.a AS a INNER JOIN dbo.b AS b ON b.id = a.b_id WHERE a.note LIKE @pattern     -- a.b_id and a.note
//
// A comparison with NULL is never true. With ANSI_NULLS OFF, which a module keeps from when it was created, it can be
// if one side is a variable or a NULL that is written out.
func (a *analyzer) refine(s *scope, cond syntax.Expr) {
	for o := range a.shown(s, cond, true, true) {
		at := o.column
		if !slices.Contains(s.Sources, at.Table) || !at.Table.columns[at.Column].Nullable {
			continue
		}
		at.Table.columns = slices.Clone(at.Table.columns)
		at.Table.columns[at.Column].Nullable = false
		if at.Table.refined == nil {
			at.Table.refined = map[int]bool{}
		}
		at.Table.refined[at.Column] = true
	}
}

// shown returns the variables that are not NULL where a condition came out as it did: see [analyzer.shown].
func (w *walker) shown(cond syntax.Expr, value, surely bool) []string {
	var names []string
	for o := range w.a.shown(&scope{env: w.e}, cond, value, surely) {
		if o.variable != "" { // else a column of a subquery
			names = append(names, o.variable)
		}
	}
	return names
}

// subject is a variable or a column of which a condition tells something.
type subject struct {
	variable string // folded; empty for a column
	column   place
}

// shown returns what is not NULL where a condition has a value, true or false. Without surely the value may be unknown
// as well: the ELSE of an IF is for what is not true.
//
//	true:                  x = 1 AND y LIKE 'a%'      -- x and y
//	not surely false:      x IS NULL OR y IS NULL     -- x and y
func (a *analyzer) shown(s *scope, cond syntax.Expr, value, surely bool) map[subject]bool {
	switch x := syntax.Unparen(cond).(type) {
	case *syntax.Not:
		return a.shown(s, x.X, !value, surely)
	case *syntax.Logical:
		l, r := a.shown(s, x.X, value, surely), a.shown(s, x.Y, value, surely)
		if (x.Op == "AND") == value {
			maps.Copy(l, r)
		} else { // one of them has the value, and which one isn't known
			maps.DeleteFunc(l, func(o subject, _ bool) bool { return !r[o] })
		}
		return l
	case *syntax.IsNull:
		return a.subjects(s, x.X, x.Not == value)
	case *syntax.Exists:
		return a.needed(s, x.Query, value)
	case *syntax.Compare:
		out := a.subjects(s, replacedNull(x), (x.Op == "=") != value)
		if surely && x.Op != "IS DISTINCT FROM" && x.Op != "IS NOT DISTINCT FROM" {
			maps.Copy(out, a.subjects(s, x.X, a.refuses(s, x.Y)))
			maps.Copy(out, a.subjects(s, x.Y, a.refuses(s, x.X)))
		}
		return out
	case *syntax.Between:
		return a.subjects(s, x.X, surely && a.refuses(s, x.Low) && a.refuses(s, x.High))
	case *syntax.In:
		return a.shownIn(s, x, value != x.Not, surely)
	case *syntax.Like:
		out := a.subjects(s, x.X, surely)
		maps.Copy(out, a.subjects(s, x.Pattern, surely))
		return out
	default:
		return map[subject]bool{}
	}
}

// shownIn is shown for x IN (…), and for x NOT IN (…) with the other value. An IN of a query without rows is false for
// NULL as well.
func (a *analyzer) shownIn(s *scope, x *syntax.In, value, surely bool) map[subject]bool {
	if x.Query == nil {
		refused := !slices.ContainsFunc(x.List, func(item syntax.Expr) bool { return !a.refuses(s, item) })
		return a.subjects(s, x.X, surely && refused)
	}
	out := a.subjects(s, x.X, value && surely && a.ansi.nulls(s.env.file, x.From))
	maps.Copy(out, a.needed(s, x.Query, value && surely))
	return out
}

// replacedNull returns x of the comparison ISNULL (x, 0) = 0, or with another operator or an empty text; nil of any
// other. If it is not true, x is not NULL.
func replacedNull(c *syntax.Compare) syntax.Expr {
	if c.Op != "=" && c.Op != "<>" {
		return nil
	}
	call, ok := syntax.Unparen(c.X).(*syntax.Call)
	if !ok || len(call.Name.Parts) != 1 || !same(call.Name.Parts[0].Value, "ISNULL") || len(call.Args) != 2 {
		return nil
	}
	instead, ok := syntax.Unparen(call.Args[1]).(*syntax.Literal)
	other, too := syntax.Unparen(c.Y).(*syntax.Literal)
	if !ok || !too || instead.Kind != other.Kind || instead.Value != other.Value {
		return nil
	}
	// Other values may be cut to the type of x, and differ then.
	if instead.Kind == syntax.IntLiteral && onlyZeros(instead.Value) ||
		instead.Value == "" && (instead.Kind == syntax.StringLiteral || instead.Kind == syntax.NStringLiteral) {
		return call.Args[0]
	}
	return nil
}

// needed returns what is not NULL if a subquery has a row, which it can only have if its WHERE holds.
func (a *analyzer) needed(s *scope, q *syntax.Query, so bool) map[subject]bool {
	selected, ok := q.Body.(*syntax.Select)
	if !so || !ok || selected.Where == nil || selected.GroupBy == nil && builtin.Aggregates(selected, q.OrderBy) {
		return map[subject]bool{}
	}
	inner := s.inner()
	a.quietly(func() { a.from(inner, selected.From) })
	return a.shown(inner, selected.Where, true, true)
}

// refuses reports whether no NULL compares with an expression, whatever its value.
func (a *analyzer) refuses(s *scope, x syntax.Expr) bool {
	x = syntax.Unparen(x)
	if l, ok := x.(*syntax.Literal); ok && l.Kind != syntax.NullLiteral {
		return true
	}
	_, column := x.(*syntax.ColumnRef)
	return column || a.ansi.nulls(s.env.file, x.Range().From)
}

// strict lists functions of one argument that are NULL of NULL.
var strict = map[string]bool{
	"ABS": true, "CEILING": true, "DATALENGTH": true, "DAY": true, "FLOOR": true, "LEN": true, "LOWER": true, "LTRIM": true,
	"MONTH": true, "RTRIM": true, "UPPER": true, "YEAR": true,
}

// subjects returns the variables and columns without which an expression is NULL, if it is known not to be.
func (a *analyzer) subjects(s *scope, x syntax.Expr, so bool) map[subject]bool {
	out := map[subject]bool{}
	if !so || x == nil {
		return out
	}
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Variable:
		if a.ansi.nulls(s.env.file, x.From) {
			out[subject{variable: catalog.Fold(x.Name)}] = true
		}
	case *syntax.ColumnRef:
		a.quietly(func() {
			if at, _, ok := a.find(s, x); ok {
				out[subject{column: at}] = true
			}
		})
	case *syntax.Unary:
		return a.subjects(s, x.X, true)
	case *syntax.Binary:
		out = a.subjects(s, x.X, true)
		maps.Copy(out, a.subjects(s, x.Y, true))
	case *syntax.Cast:
		return a.subjects(s, x.X, true)
	case *syntax.Collate:
		return a.subjects(s, x.X, true)
	case *syntax.Call:
		if len(x.Name.Parts) == 1 && len(x.Args) == 1 && strict[strings.ToUpper(x.Name.Parts[0].Value)] {
			return a.subjects(s, x.Args[0], true)
		}
	}
	return out
}

// ansiSettings tells where in the scripts ANSI_NULLS is off.
type ansiSettings map[*diag.File][]ansiChange

// An ansiChange is a SET ANSI_NULLS, or the beginning of a script.
type ansiChange struct {
	at diag.Pos
	on bool
}

// readAnsi follows SET ANSI_NULLS outside of modules, inside of which it changes nothing. Scripts are taken to run in
// their order and in one session; drivers and tools begin with ON.
func readAnsi(scripts []Source) ansiSettings {
	out := ansiSettings{}
	on := true
	for _, src := range scripts {
		file := src.Script.File
		out[file] = append(out[file], ansiChange{on: on})
		for _, batch := range src.Script.Batches {
			if batch.Module != nil {
				continue
			}
			for _, stmt := range batch.Stmts {
				for set := range syntax.All[*syntax.SetOption](stmt) {
					if set.Name == "ANSI_NULLS" || set.Name == "ANSI_DEFAULTS" {
						on = set.Value == "ON"
						out[file] = append(out[file], ansiChange{at: set.From, on: on})
					}
				}
			}
		}
	}
	return out
}

// nulls reports whether ANSI_NULLS is on at a place.
func (s ansiSettings) nulls(file *diag.File, at diag.Pos) bool {
	on := true
	for _, c := range s[file] {
		if c.at > at {
			break
		}
		on = c.on
	}
	return on
}
