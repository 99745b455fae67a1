package sysview

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Definition prints an expression as SQL Server shows it in the definition of a default, a check or a computed column:
// in parentheses, names in brackets, numbers in parentheses, built-in functions in lower case, CAST as CONVERT, BETWEEN
// as two comparisons and IN as a chain of OR, the last element first. The text has the same meaning, which is all that
// the documentation promises; what is known of the form comes from definitions that SQL Server ships and documents.
func Definition(x syntax.Expr) string {
	if x == nil {
		return ""
	}
	return printer{}.whole(x)
}

// FilterDefinition prints the condition of a filtered index, where IN stays what it is.
func FilterDefinition(x syntax.Expr) string {
	if x == nil {
		return ""
	}
	return printer{keepIn: true}.whole(x)
}

// bracket writes a name with brackets.
func bracket(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

func brackets(parts []syntax.Ident) string {
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = bracket(p.Value)
	}
	return strings.Join(list, ".")
}

type printer struct{ keepIn bool }

// whole prints a definition. A number has its own parentheses besides: ((0)).
func (p printer) whole(x syntax.Expr) string {
	x = syntax.Unparen(x)
	signed, isSigned := x.(*syntax.Unary)
	if isSigned {
		_, isSigned = syntax.Unparen(signed.X).(*syntax.Literal)
	}
	if _, ok := x.(*syntax.Literal); ok || isSigned {
		return "(" + p.operand(x) + ")"
	}
	return "(" + p.print(x) + ")"
}

// print prints an expression or a condition without parentheses around it.
func (p printer) print(x syntax.Expr) string {
	switch x := x.(type) {
	case *syntax.Paren:
		return p.print(x.X)
	case *syntax.Literal:
		return literal(x)
	case *syntax.Variable:
		return x.Name
	case *syntax.SystemVariable:
		return strings.ToLower(x.Name)
	case *syntax.ColumnRef:
		return brackets(x.Parts)
	case *syntax.Call:
		return p.call(x)
	case *syntax.Cast:
		return p.cast(x)
	case *syntax.Unary:
		return p.unary(x)
	case *syntax.Binary:
		return p.operand(x.X) + x.Op + p.operand(x.Y)
	case *syntax.Case:
		return p.choice(x)
	case *syntax.NextValue:
		return "NEXT VALUE FOR " + brackets(x.Sequence.Parts)
	case *syntax.AtTimeZone:
		return p.operand(x.X) + " AT TIME ZONE " + p.operand(x.Zone)
	case *syntax.Collate:
		return p.operand(x.X) + " collate " + x.Name.Value
	default:
		return p.condition(x)
	}
}

// condition prints what is true or false.
func (p printer) condition(x syntax.Expr) string {
	switch x := x.(type) {
	case *syntax.Compare:
		if strings.HasPrefix(x.Op, "IS") {
			return p.operand(x.X) + " " + x.Op + " " + p.operand(x.Y)
		}
		return p.operand(x.X) + x.Op + p.operand(x.Y)
	case *syntax.Logical:
		return p.side(x.X, x.Op) + " " + x.Op + " " + p.side(x.Y, x.Op)
	case *syntax.Not:
		return "NOT " + p.negated(x.X)
	case *syntax.Between:
		return p.between(x)
	case *syntax.In:
		return p.in(x)
	case *syntax.Like:
		return p.like(x)
	case *syntax.IsNull:
		if x.Not {
			return p.operand(x.X) + " IS NOT NULL"
		}
		return p.operand(x.X) + " IS NULL"
	default:
		return "?" // queries stand in no definition
	}
}

// operand prints an operand: numbers and what has operators stand in parentheses.
func (p printer) operand(x syntax.Expr) string {
	x = syntax.Unparen(x)
	text := p.print(x)
	switch x := x.(type) {
	case *syntax.Literal:
		switch x.Kind {
		case syntax.IntLiteral, syntax.DecimalLiteral, syntax.FloatLiteral, syntax.MoneyLiteral:
			return "(" + text + ")"
		default: // NULL, text and binaries stand alone
		}
	case *syntax.Unary, *syntax.Binary, *syntax.Case, *syntax.AtTimeZone, *syntax.NextValue:
		return "(" + text + ")"
	}
	return text
}

// side prints a side of AND or OR. AND binds more closely, so only OR under AND needs parentheses.
func (p printer) side(x syntax.Expr, op string) string {
	text := p.print(x)
	if op == "AND" && p.isOr(x) {
		return "(" + text + ")"
	}
	return text
}

// isOr reports whether a condition is printed as several with OR between them.
func (p printer) isOr(x syntax.Expr) bool {
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Logical:
		return x.Op == "OR"
	case *syntax.In:
		return !x.Not && len(x.List) > 1 && !p.keepIn
	default:
		return false
	}
}

// negated prints what stands behind NOT.
func (p printer) negated(x syntax.Expr) string {
	text := p.print(x)
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Logical, *syntax.Between:
		return "(" + text + ")"
	case *syntax.In:
		if p.isOr(x) {
			return "(" + text + ")"
		}
	}
	return text
}

func (p printer) between(x *syntax.Between) string {
	text := p.operand(x.X) + ">=" + p.operand(x.Low) + " AND " + p.operand(x.X) + "<=" + p.operand(x.High)
	if x.Not {
		return "NOT (" + text + ")"
	}
	return text
}

func (p printer) in(x *syntax.In) string {
	list := make([]string, len(x.List))
	if p.keepIn {
		for i, one := range x.List {
			list[i] = p.operand(one)
		}
		text := p.operand(x.X) + " IN (" + strings.Join(list, ", ") + ")"
		if x.Not {
			return "NOT " + text
		}
		return text
	}
	for i, one := range x.List {
		list[len(list)-1-i] = p.operand(x.X) + "=" + p.operand(one)
	}
	text := strings.Join(list, " OR ")
	switch {
	case x.Not && len(list) > 1:
		return "NOT (" + text + ")"
	case x.Not:
		return "NOT " + text
	default:
		return text
	}
}

func (p printer) like(x *syntax.Like) string {
	text := p.operand(x.X) + " like " + p.operand(x.Pattern)
	if x.Escape != nil {
		text += " escape " + p.operand(x.Escape)
	}
	if x.Not {
		return "NOT " + text
	}
	return text
}

func (p printer) unary(x *syntax.Unary) string {
	if n, ok := syntax.Unparen(x.X).(*syntax.Literal); ok {
		return x.Op + literal(n)
	}
	return x.Op + p.operand(x.X)
}

func (p printer) choice(x *syntax.Case) string {
	var out strings.Builder
	out.WriteString("case")
	if x.Input != nil {
		out.WriteString(" " + p.operand(x.Input))
	}
	for _, w := range x.Whens {
		when := p.print(w.When)
		if x.Input != nil {
			when = p.operand(w.When)
		}
		out.WriteString(" when " + when + " then " + p.operand(w.Then))
	}
	if x.Else != nil {
		out.WriteString(" else " + p.operand(x.Else))
	}
	out.WriteString(" end")
	return out.String()
}

// cast prints all conversions as CONVERT, and those that may fail as TRY_CAST.
func (p printer) cast(x *syntax.Cast) string {
	kind := printedType(x.Type)
	switch x.Func {
	case "TRY_CAST", "TRY_CONVERT":
		if x.Style == nil {
			return "TRY_CAST(" + p.operand(x.X) + " AS " + kind + ")"
		}
		return "TRY_CONVERT(" + kind + "," + p.operand(x.X) + "," + p.operand(x.Style) + ")"
	case "PARSE", "TRY_PARSE":
		text := x.Func + "(" + p.operand(x.X) + " AS " + kind
		if x.Style != nil {
			text += " USING " + p.operand(x.Style)
		}
		return text + ")"
	}
	text := "CONVERT(" + kind + "," + p.operand(x.X)
	if x.Style != nil {
		text += "," + p.operand(x.Style)
	}
	return text + ")"
}

func printedType(t *syntax.TypeName) string {
	text := brackets(t.Name.Parts)
	if len(t.Name.Parts) == 1 && sqltype.Known(t.Name.Parts[0].Value) {
		text = bracket(strings.ToLower(t.Name.Parts[0].Value))
	}
	if len(t.Args) == 0 {
		return text
	}
	args := make([]string, len(t.Args))
	for i, a := range t.Args {
		args[i] = strings.ToLower(a.Value)
	}
	return text + "(" + strings.Join(args, ",") + ")"
}

// replaced are calls that SQL Server prints as calls of other functions.
var replaced = map[string]string{
	"current_timestamp": "getdate()", "current_user": "user_name()", "user": "user_name()", "session_user": "user_name()",
	"system_user": "suser_sname()",
}

// dateFunctions have a part of a date as their first argument, which is no expression.
var dateFunctions = map[string]bool{
	"dateadd": true, "datediff": true, "datediff_big": true, "datename": true, "datepart": true, "date_bucket": true, "datetrunc": true,
}

func (p printer) call(x *syntax.Call) string {
	short := strings.ToLower(x.Name.Last().Value)
	if x.NoParens {
		if text, ok := replaced[short]; ok {
			return text
		}
	}
	if short == "iif" && len(x.Args) == 3 && len(x.Name.Parts) == 1 {
		return "case when " + p.print(x.Args[0]) + " then " + p.operand(x.Args[1]) + " else " + p.operand(x.Args[2]) + " end"
	}
	args := make([]string, len(x.Args))
	for i, a := range x.Args {
		args[i] = p.argument(a)
		if ref, ok := a.(*syntax.ColumnRef); i == 0 && ok && dateFunctions[short] {
			args[i] = strings.ToLower(ref.Parts[0].Value)
		}
	}
	name := short
	if len(x.Name.Parts) > 1 {
		name = brackets(x.Name.Parts)
	}
	return name + "(" + strings.Join(args, ",") + ")"
}

// argument prints an argument of a function. What has operators needs no parentheses between commas.
func (p printer) argument(x syntax.Expr) string {
	switch syntax.Unparen(x).(type) {
	case *syntax.Binary, *syntax.Case:
		return p.print(x)
	default:
		return p.operand(x)
	}
}

func literal(x *syntax.Literal) string {
	switch x.Kind {
	case syntax.NullLiteral:
		return "NULL"
	case syntax.StringLiteral:
		return "'" + strings.ReplaceAll(x.Value, "'", "''") + "'"
	case syntax.NStringLiteral:
		return "N'" + strings.ReplaceAll(x.Value, "'", "''") + "'"
	default:
		return x.Value
	}
}
