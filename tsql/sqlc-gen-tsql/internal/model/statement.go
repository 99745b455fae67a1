package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// sortTables sorts by Go name, after each table: they are found in the order in which parameters use them.
func sortTables(tables []*Table) {
	slices.SortFunc(tables, func(a, b *Table) int { return cmp.Compare(a.Name, b.Name) })
}

// A text is T-SQL being written that knows where it names a schema, for the option that renames one at run time.
type text struct {
	strings.Builder
	schemas []analyze.SchemaName
}

// object writes the quoted name of an object.
func (t *text) object(schema, name string) {
	from := t.Len()
	t.WriteString(quote(schema))
	t.schemas = append(t.schemas, analyze.SchemaName{From: from, To: t.Len(), Schema: schema})
	t.WriteString("." + quote(name))
}

// fill declares the variables of table arguments and fills them from their documents. A variable has the name of the
// parameter, so that the text of a query finds it without being changed. An INSERT may fail and end no more than
// itself: XACT_ABORT makes it end the batch, so that what follows never runs with rows missing.
func (t *text) fill(args []Arg) {
	if slices.ContainsFunc(args, func(a Arg) bool { return a.Mode == TableArg }) {
		t.WriteString("SET XACT_ABORT ON;\n")
	}
	for _, a := range args {
		if a.Mode != TableArg {
			continue
		}
		t.WriteString("DECLARE @" + a.Name + " ")
		schema := a.Table.Schema
		t.schemas = append(t.schemas, analyze.SchemaName{From: t.Len(), To: t.Len() + schema.To, Schema: schema.Schema})
		t.WriteString(a.Table.Text + ";\n" + a.document().insert(a.Name, ""))
	}
}

// byText reports that an output parameter is sent in another form than its own: the driver sends a decimal as text.
func byText(p analyze.Param) bool { return p.Output && p.Type.Kind == sqltype.Decimal }

// batched reports that a procedure can't be called by its name only, whatever form tables have: an output parameter
// that is sent as text needs a variable of its own type.
func batched(p *analyze.Procedure) bool {
	return slices.ContainsFunc(p.Params, func(p analyze.Param) bool { return byText(p) || p.Output && p.Type.Kind == sqltype.Char })
}

// call returns the statement that calls a procedure: its name, if that is enough.
func (b *builder) call(p *analyze.Procedure, args []Arg) Statement {
	tables := slices.ContainsFunc(args, func(a Arg) bool { return a.Table != nil })
	if batched(p) && tables && b.pkg.Tables != TablesJSON {
		// The driver's form of a table can only be an argument of the procedure itself: sp_executesql would need it
		// twice.
		b.found.Add(p.File, p.Span, "type", "use the option tables: json",
			"procedure %s has a table and an output parameter that can't be called together in the driver's own form", p.Name)
		return Statement{}
	}
	if batched(p) || tables && b.pkg.Tables == TablesJSON {
		return batch(p, args)
	}
	var t text
	t.object(p.Name.Schema, p.Name.Name)
	return Statement{Text: t.String(), Schemas: t.schemas}
}

// batch returns the statement that calls a procedure from a text, where variables hold what can't be sent as it is.
func batch(p *analyze.Procedure, args []Arg) Statement {
	c := caller{params: map[string]analyze.Param{}, args: args}
	for _, param := range p.Params {
		c.params[strings.TrimPrefix(param.Name, "@")] = param
	}
	c.fill(args)
	c.locals()
	c.WriteString("EXEC ")
	if p.Status {
		c.WriteString("@" + StatusParam + " = ")
	}
	c.object(p.Name.Schema, p.Name.Name)
	c.assign()
	if p.Status {
		c.declare(StatusParam, "int OUTPUT")
	}
	return Statement{
		Text:     c.String(),
		Schemas:  c.schemas,
		Batch:    true,
		Decls:    strings.Join(c.decls, ", "),
		Optional: c.optional,
		Tail:     c.tail.String(),
	}
}

// StatusParam carries the return status of a procedure that is called in a batch.
const StatusParam = "gen_status"

// A caller writes the batch that calls a procedure.
type caller struct {
	text
	params   map[string]analyze.Param // by their names without the @
	args     []Arg
	decls    []string // of sp_executesql
	optional []Decl
	tail     strings.Builder // what follows the call
}

// declare adds a parameter of sp_executesql.
func (c *caller) declare(name, decl string) { c.decls = append(c.decls, "@"+name+" "+decl) }

// local names the variable that stands for an output parameter sent as text.
func (c *caller) local(a Arg) string { return unused(c.args, a.Name+"_value") }

// textDecl holds any decimal: 38 digits, a sign, a point and the zero in front of it.
const textDecl = "nvarchar(41)"

// locals declares the variables for what is sent as text.
func (c *caller) locals() {
	for _, a := range c.args {
		if byText(c.params[a.Name]) {
			c.WriteString("DECLARE @" + c.local(a) + " " + a.Type.Decl + " = @" + a.Name + ";\n")
		}
	}
}

// assign writes the arguments of the EXEC. Those that may be left out are added when it is run, and there is always one
// that may not: the table or the output that the batch is for.
func (c *caller) assign() {
	separator := " "
	for _, a := range c.args {
		value, decl := a.Name, a.Type.Decl
		switch {
		case a.Mode == TableArg:
			c.declare(a.Document, "nvarchar(max)")
			decl = ""
		case a.Mode == OptionalArg, a.Mode == OptionalNull:
			c.optional = append(c.optional, Decl{Name: a.Name, Type: decl})
			continue
		case byText(c.params[a.Name]):
			// The variable is of the parameter's type; the text goes into it in front of the call and out of it behind.
			value, decl = c.local(a), textDecl
			c.tail.WriteString(";\nSET @" + a.Name + " = @" + value)
		}
		if a.Mode == Output {
			decl += " OUTPUT"
		}
		if decl != "" {
			c.declare(a.Name, decl)
		}
		c.WriteString(separator + "@" + a.Name + " = @" + value)
		if a.Mode == Output {
			c.WriteString(" OUTPUT")
		}
		separator = ", "
	}
}

// text returns the statement of a query. The text of the script goes to the server as it is, with more around it only
// for tables and repetition.
func (b *builder) text(q *analyze.Query, args []Arg) Statement {
	var t text
	var decls []string
	for _, a := range args {
		name, decl := a.Name, a.Type.Decl
		if a.Mode == TableArg {
			name, decl = a.Document, "nvarchar(max)"
			if b.pkg.Tables == TablesTVP {
				b.found.Add(q.File, q.Span, "type", "use the option tables: json",
					"query %s has the table @%s, which can't be sent in the driver's own form", q.Name, a.Name)
				return Statement{}
			}
		}
		decls = append(decls, "@"+name+" "+decl)
	}
	after := ""
	switch {
	case q.Command == analyze.CommandBatch:
		// The parameters become variables; what is passed is all of them in one document.
		var before string
		before, after = repeated(args)
		t.WriteString(before)
		decls = []string{"@" + batchDocument + " nvarchar(max)", "@" + batchChanged + " bigint OUTPUT"}
	case slices.ContainsFunc(args, func(a Arg) bool { return a.Mode == TableArg }):
		// The rows of the argument don't count as rows of the query.
		t.WriteString("SET NOCOUNT ON;\n")
		t.fill(args)
		t.WriteString("SET NOCOUNT OFF;\n")
	}
	// What was put in front has moved the names of the query.
	for _, at := range q.SchemaNames {
		at.From, at.To = at.From+t.Len(), at.To+t.Len()
		t.schemas = append(t.schemas, at)
	}
	statement := q.Text
	if after != "" {
		// What follows must not end up in a comment, and some statements insist on their semicolon.
		statement = strings.TrimRight(statement, "; \t\r\n") + "\n;"
	}
	t.WriteString(statement + after)
	return Statement{Text: t.String(), Schemas: t.schemas, Batch: true, Decls: strings.Join(decls, ", ")}
}
