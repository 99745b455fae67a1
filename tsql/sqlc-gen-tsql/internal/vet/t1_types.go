package vet

import (
	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// typeRules are about values that change their type on the way to a column.
var typeRules = []Rule{
	{
		ID:    "T1-unicode",
		Title: "A varchar column is not compared with nvarchar",
		Reason: "The column is converted, row by row, and its index is scanned instead of searched (go-mssqldb #40, TypeORM " +
			"#10131).",
		Bad: "CREATE TABLE dbo.users (code varchar(10) NOT NULL PRIMARY KEY);\nGO\n" +
			"SELECT code FROM dbo.users WHERE code = N'x';",
		Good: "CREATE TABLE dbo.users (code varchar(10) NOT NULL PRIMARY KEY);\nGO\n" +
			"SELECT code FROM dbo.users WHERE code = 'x';",
		check: checkUnicode,
	},
	{
		ID:     "T1-length",
		Title:  "A parameter is no shorter than its column",
		Reason: "A longer argument is cut off in silence, so that two ids become one, or half of a text is stored.",
		Bad: "CREATE TABLE dbo.users (id bigint NOT NULL PRIMARY KEY, code varchar(10) NOT NULL);\nGO\n" +
			"CREATE PROCEDURE dbo.find @code varchar(5) AS SELECT id FROM dbo.users WHERE code = @code;",
		Good: "CREATE TABLE dbo.users (id bigint NOT NULL PRIMARY KEY, code varchar(10) NOT NULL);\nGO\n" +
			"CREATE PROCEDURE dbo.find @code varchar(10) AS SELECT id FROM dbo.users WHERE code = @code;",
		check: checkParameters(shorter),
	},
	{
		ID:    "T1-param",
		Title: "A parameter has exactly the type of its column",
		Reason: "Another type converts, which may scan, round or fail; and what the generated code sends is what the parameter " +
			"says.",
		Bad: "CREATE TABLE dbo.users (id bigint NOT NULL PRIMARY KEY);\nGO\n" +
			"CREATE PROCEDURE dbo.find @id int AS SELECT id FROM dbo.users WHERE id = @id;",
		Good: "CREATE TABLE dbo.users (id bigint NOT NULL PRIMARY KEY);\nGO\n" +
			"CREATE PROCEDURE dbo.find @id bigint AS SELECT id FROM dbo.users WHERE id = @id;",
		Optional: true,
		check: checkParameters(func(param, column sqltype.Type) bool {
			return param != column && !shorter(param, column)
		}),
	},
}

// pair is a column and what it is compared with or gets; the types of the two should be one.
type pair struct {
	column   *catalog.Column
	value    syntax.Expr
	at       diag.Span
	compared bool // rather than assigned
	local    bool // the column is a table variable's or a temp table's
}

// pairs calls f for every comparison of a column, and every assignment to one, in a unit.
func (u *unit) pairs(f func(pair)) {
	// Both sides may be columns, and then each is compared with the other.
	compare := func(x, y syntax.Expr, at diag.Span) {
		if c := u.columnOf(x); c != nil {
			f(pair{c, y, at, true, u.isLocal(x)})
		}
		if c := u.columnOf(y); c != nil {
			f(pair{c, x, at, true, u.isLocal(y)})
		}
	}
	syntax.Walk(u.node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Compare:
			compare(n.X, n.Y, n.Span)
		case *syntax.Like:
			compare(n.X, n.Pattern, n.Span)
		case *syntax.Between:
			compare(n.X, n.Low, n.Span)
			compare(n.X, n.High, n.Span)
		case *syntax.In:
			for _, x := range n.List {
				compare(n.X, x, n.Span)
			}
		// column += x computes: the type of the result is not that of x.
		case *syntax.Assignment:
			if n.Column != nil && n.Op == "=" {
				if c := u.columnOf(n.Column); c != nil {
					f(pair{c, n.X, n.Span, false, u.isLocal(n.Column)})
				}
			}
		case *syntax.Insert:
			u.insertPairs(n, f)
		}
		return true
	})
}

// insertPairs goes through the values of an INSERT with a list of columns.
func (u *unit) insertPairs(n *syntax.Insert, f func(pair)) {
	target := u.Tables[n.Target]
	if target == nil {
		return
	}
	row := func(values []syntax.Expr) {
		for i, x := range values {
			// By position, as the server does it. Without a list of columns nothing is compared: it would need the
			// catalog's order, and P3 is against such inserts anyway.
			if i < len(n.Columns) && x != nil {
				if c := target.Column(n.Columns[i].Value); c != nil && c.Type.Kind != sqltype.Invalid {
					f(pair{c, x, x.Range(), false, target.Kind == analyze.LocalTable})
				}
			}
		}
	}
	for _, values := range n.Rows {
		row(values)
	}
	if n.Query == nil {
		return
	}
	if body, ok := n.Query.Body.(*syntax.Select); ok {
		values := make([]syntax.Expr, len(body.Items))
		for i := range body.Items {
			values[i] = body.Items[i].X
		}
		row(values)
	}
}

// columnOf returns the column that an expression is, if its type is known. COLLATE changes how a column is compared,
// not its type.
func (u *unit) columnOf(x syntax.Expr) *catalog.Column {
	x = syntax.Unparen(x)
	if c, ok := x.(*syntax.Collate); ok {
		x = syntax.Unparen(c.X)
	}
	ref, ok := x.(*syntax.ColumnRef)
	if !ok {
		return nil
	}
	if c := u.Refs[ref].Column; c != nil && c.Type.Kind != sqltype.Invalid {
		return c
	}
	return nil
}

// isLocal says whether a column belongs to a table variable or a temp table.
func (u *unit) isLocal(x syntax.Expr) bool {
	ref, ok := syntax.Unparen(x).(*syntax.ColumnRef)
	return ok && u.Refs[ref].Source != nil && u.Refs[ref].Source.Kind == analyze.LocalTable
}

// typeOf returns the type of the simple expressions, Invalid for all others. A plain string literal is left out on
// purpose: it is varchar, which converts to whatever it meets without harm.
func (u *unit) typeOf(x syntax.Expr) sqltype.Type {
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Literal:
		// Without a length: only the kind is asked for, and a literal's own length means nothing.
		if x.Kind == syntax.NStringLiteral {
			return sqltype.Type{Kind: sqltype.NVarChar}
		}
	case *syntax.Variable:
		return u.Variables[catalog.Fold(x.Name)].Type
	case *syntax.Cast:
		if u.catalog != nil && x.Type != nil {
			if t, err := u.catalog.CastType(x.Type); err == nil {
				return t
			}
		}
	case *syntax.ColumnRef, *syntax.Collate:
		if c := u.columnOf(x); c != nil {
			return c.Type
		}
	}
	return sqltype.Type{}
}

// isByteText says whether a type is char or varchar, whose bytes a code page gives their meaning.
func isByteText(t sqltype.Type) bool { return t.Kind == sqltype.Char || t.Kind == sqltype.VarChar }

// isUnicode says whether a type is nchar or nvarchar.
func isUnicode(t sqltype.Type) bool { return t.Kind == sqltype.NChar || t.Kind == sqltype.NVarChar }

// checkUnicode reports what converts the column. nvarchar has the higher precedence, so that the server converts the
// varchar side, which under SQL collations makes an index useless; under Windows collations it can still seek, at a
// cost, and on which one the scripts will run isn't known. An assignment converts a single value, and is fine.
func checkUnicode(p *pass) {
	for _, u := range p.units {
		u.pairs(func(x pair) {
			if x.compared && isByteText(x.column.Type) && isUnicode(u.typeOf(x.value)) {
				p.report(u, x.at, "give both sides the same type", "column %s is %s, and is compared with nvarchar",
					x.column.Name, x.column.Type)
			}
		})
	}
}

// shorter says whether a text or binary parameter can't hold every value of a column of its kind.
func shorter(param, column sqltype.Type) bool {
	// nvarchar(10) and varchar(10) both hold ten characters, as long as these are plain ones: kinds are T1-param's,
	// lengths this rule's.
	alike := isText(param) && isText(column) || param.IsBinary() && column.IsBinary()
	return alike && param.Length != sqltype.Max && (column.Length == sqltype.Max || param.Length < column.Length)
}

// checkParameters makes a check that reports parameters whose type doesn't go with that of a stored column. Table
// variables and temp tables are the procedure's own business, and may have other types for good reasons.
func checkParameters(wrong func(param, column sqltype.Type) bool) func(*pass) {
	return func(p *pass) {
		for _, u := range p.procedures() {
			u.pairs(func(x pair) {
				v, ok := syntax.Unparen(x.value).(*syntax.Variable)
				// An expression over a parameter may have any type, on purpose.
				if !ok || x.local {
					return
				}
				declared := u.Variables[catalog.Fold(v.Name)]
				if !declared.Param || declared.Type.Kind == sqltype.Invalid || !wrong(declared.Type, x.column.Type) ||
					x.compared && isByteText(x.column.Type) && isUnicode(declared.Type) { // a matter for T1-unicode
					return
				}
				p.report(u, v.Span, "declare it "+x.column.Type.String(), "%s is %s, and column %s is %s",
					v.Name, declared.Type, x.column.Name, x.column.Type)
			})
		}
	}
}

// isText says whether a type is a text that can be compared and indexed, which the old text and ntext can't.
func isText(t sqltype.Type) bool { return isByteText(t) || isUnicode(t) }
