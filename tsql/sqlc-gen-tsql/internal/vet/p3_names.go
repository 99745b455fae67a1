package vet

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// nameRules are about what is read, and under which name.
var nameRules = []Rule{
	{
		ID:    "P3-schema",
		Title: "Every object is written with its schema",
		Reason: "What an unqualified name means depends on who asks, so its plan can't be shared between users, and a name " +
			"that is looked up twice may be found twice. Scripts that run once are left alone, unless the option schema says " +
			"which schema everything is in.",
		Bad:   "CREATE PROCEDURE dbo.list_users AS SELECT id FROM users;",
		Good:  "CREATE PROCEDURE dbo.list_users AS SELECT id FROM dbo.users;",
		check: checkSchemas,
	},
	{
		ID:    "P3-text",
		Title: "The schema's name stands in front of objects only, never in a string",
		Reason: "Where a schema per tenant is put into the scripts, names in strings are not found and go on meaning the " +
			"first one.",
		Bad:     "CREATE FUNCTION shop.ready() RETURNS int AS BEGIN RETURN OBJECT_ID(N'shop.orders'); END;",
		Good:    "CREATE FUNCTION shop.ready() RETURNS int AS BEGIN RETURN (SELECT COUNT(*) FROM shop.orders); END;",
		Needs:   "schema",
		Example: Options{Schema: "shop"},
		check:   checkSchemaText,
	},
	{
		ID:    "P3-dynamic",
		Title: "No dynamic SQL in procedures",
		Reason: "Nobody can type, check or grant what is put together at run time, and a string that comes from outside is " +
			"executed.",
		Bad:      "CREATE PROCEDURE dbo.count_rows @t sysname AS EXEC (N'SELECT COUNT(*) FROM dbo.' + @t);",
		Good:     "CREATE PROCEDURE dbo.count_rows AS SELECT COUNT(*) AS users FROM dbo.users;",
		Optional: true,
		check:    checkDynamic,
	},
	{
		ID:     "P3-star",
		Title:  "No SELECT *",
		Reason: "A column that is added to the table changes the result under every caller.",
		Bad:    "CREATE PROCEDURE dbo.list_users AS SELECT * FROM dbo.users;",
		Good:   "CREATE PROCEDURE dbo.list_users AS SELECT id, name FROM dbo.users;",
		check:  checkStars,
	},
	{
		ID:    "P3-qualify",
		Title: "Where more than one table is read, every column is qualified",
		Reason: "An unqualified name in a subquery that doesn't exist there silently means the column of the outer query, " +
			"and a column that is added to one table makes statements on two ambiguous.",
		Bad:   "SELECT id FROM dbo.users WHERE id IN (SELECT user_id FROM dbo.orders);",
		Good:  "SELECT id FROM dbo.users WHERE id IN (SELECT o.user_id FROM dbo.orders AS o);",
		check: checkQualified,
	},
	{
		ID:     "P3-named",
		Title:  "Every column of a result has a name",
		Reason: "A column without one can't be read by name, nor generated code for it.",
		Bad:    "CREATE PROCEDURE dbo.count_users AS SELECT COUNT(*) FROM dbo.users;",
		Good:   "CREATE PROCEDURE dbo.count_users AS SELECT COUNT(*) AS users FROM dbo.users;",
		check:  checkNamed,
	},
}

// checkSchemas looks at every name of an object. In a batch a name without a schema is looked up in the caller's
// default schema first, so that two users may get two tables and need two plans; in a procedure it is the procedure's
// schema; and dbo comes second in both.
func checkSchemas(p *pass) {
	for _, u := range p.units {
		if p.Options.Schema == "" && !u.module() && !p.annotated(u) {
			continue // a script that runs once: only who configures a schema wants it everywhere
		}
		for ref, source := range u.Tables {
			// A name that stands for an alias of FROM, a CTE or a temp table needs no schema.
			// source.Ref is t where the name itself was looked up. Where it differs the name is one of an alias, as
			// in UPDATE u.
			t, ok := ref.(*syntax.TableRef)
			if ok && source.Kind == analyze.StoredTable && (source.Ref == t || len(t.Name.Parts) > 1) {
				p.checkSchema(u, "table", t.Name)
			}
		}
		syntax.Walk(u.node, func(n syntax.Node) bool {
			p.checkDefinition(u, n)
			return true
		})
	}
}

// annotated says whether a batch holds annotated queries.
func (s *session) annotated(u *unit) bool {
	set := s.sets[u.script.File]
	return set != nil && slices.ContainsFunc(u.body, func(stmt syntax.Stmt) bool {
		return len(set.Above(stmt.Range(), directive.Query)) > 0
	})
}

// checkDefinition looks at the names of objects outside of FROM.
func (p *pass) checkDefinition(u *unit, n syntax.Node) {
	switch n := n.(type) {
	case *syntax.CreateTable:
		p.checkSchema(u, "table", n.Name)
	case *syntax.AlterTable:
		p.checkSchema(u, "table", n.Name)
	case *syntax.Truncate:
		p.checkSchema(u, "table", n.Table)
	case *syntax.CreateIndex:
		p.checkSchema(u, "table", n.Table)
	case *syntax.CreateType:
		p.checkSchema(u, "type", n.Name)
	case *syntax.CreateView:
		p.checkSchema(u, "view", n.Name)
	case *syntax.CreateFunction:
		p.checkSchema(u, "function", n.Name)
	case *syntax.CreateProcedure:
		p.checkSchema(u, "procedure", n.Name)
	case *syntax.CreateTrigger:
		p.checkSchema(u, "trigger", n.Name)
		p.checkSchema(u, "table", n.Table)
	case *syntax.CreateSequence:
		p.checkSchema(u, "sequence", n.Name)
	case *syntax.NextValue:
		p.checkSchema(u, "sequence", n.Sequence)
	case *syntax.Exec:
		p.checkSchema(u, "procedure", n.Name)
	case *syntax.Select:
		p.checkSchema(u, "table", n.Into)
	case *syntax.Constraint:
		p.checkSchema(u, "table", n.References)
	// Built-in types have no schema; of the others only those are known that a script defines.
	case *syntax.TypeName:
		if key, ok := u.key(n.Name); ok && (u.catalog.TableTypes[key] != nil || u.catalog.AliasTypes[key] != nil) {
			p.checkSchema(u, "type", n.Name)
		}
	case *syntax.Drop:
		p.checkDrop(u, n)
	}
}

// schemaObjects are the kinds of DROP whose names have a schema.
var schemaObjects = map[string]bool{
	"TABLE": true, "VIEW": true, "PROCEDURE": true, "PROC": true, "FUNCTION": true, "TYPE": true, "SEQUENCE": true,
	"TRIGGER": true, "SYNONYM": true,
}

// checkDrop looks at the names of a DROP. An index or a trigger stands with its table.
func (p *pass) checkDrop(u *unit, n *syntax.Drop) {
	if schemaObjects[n.Kind] {
		for _, name := range n.Names {
			p.checkSchema(u, strings.ToLower(n.Kind), name)
		}
	}
	p.checkSchema(u, "table", n.On)
}

// checkSchema looks at one name, which may be nil.
func (p *pass) checkSchema(u *unit, what string, n *syntax.ObjectName) {
	if n == nil || n.IsTemp() {
		return
	}
	if len(n.Parts) == 1 {
		if system := catalog.Fold(n.Parts[0].Value); strings.HasPrefix(system, "sp_") || strings.HasPrefix(system, "xp_") {
			if what == "procedure" {
				// The server looks for names with sp_ and xp_ among its own first.
				return // a system procedure, or a matter for P4-prefix
			}
		}
		// The fix needs some schema to be an example; dbo is everybody's.
		schema := p.Options.Schema
		if schema == "" {
			schema = "dbo"
		}
		p.report(u, n.Span, "write "+schema+"."+n.Parts[0].Value, "%s %s is named without its schema", what, n.Parts[0].Value)
		return
	}
	schema := n.Schema()
	switch {
	case p.Options.Schema == "" || same(schema, "sys") || same(schema, "INFORMATION_SCHEMA"):
	// Where everything is in one schema, everything is in one database.
	case len(n.Parts) > 2:
		p.report(u, n.Span, "", "%s is in another database", syntax.Dotted(n.Parts))
	case !same(schema, p.Options.Schema):
		p.report(u, n.Span, "", "%s is not in schema %s", syntax.Dotted(n.Parts), p.Options.Schema)
	}
}

// checkSchemaText looks for the schema's name in strings. A tool that renames the schema of a tenant rewrites
// identifiers, and can't tell which strings are names.
func checkSchemaText(p *pass) {
	if p.Options.Schema == "" {
		return
	}
	for _, u := range p.units {
		syntax.Walk(u.node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Throw, *syntax.Raiserror, *syntax.Print: // texts for people
				return false
			case *syntax.Literal:
				if n.Kind == syntax.StringLiteral || n.Kind == syntax.NStringLiteral {
					p.checkText(u, n)
				}
			}
			return true
		})
	}
}

// checkText reports a string that is the schema's name, or has it in front of a dot.
func (p *pass) checkText(u *unit, n *syntax.Literal) {
	text, schema := catalog.Fold(n.Value), catalog.Fold(p.Options.Schema)
	if containsWord(text, schema+".") || strings.Contains(text, "["+schema+"]") || text == schema ||
		containsWord(text, "schema "+schema) || qualifies(text, schema) {
		p.report(u, n.Span, "name the object itself", "the name of schema %s stands in a string", p.Options.Schema)
	}
}

// qualifies says whether a word stands in a text with a name behind its dot. containsWord doesn't do: the dot and
// what follows it are part of what is looked for.
func qualifies(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word+".")
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(word)+1
		if (from == 0 || !isWordByte(text[from-1])) && to < len(text) && (isWordByte(text[to]) || text[to] == '[') {
			return true
		}
		at = to
	}
}

// checkDynamic reports the three ways to execute a string. The generator can't see into one, so that its result sets
// are unknown, too.
func checkDynamic(p *pass) {
	for _, u := range p.modules() {
		for n := range syntax.All[*syntax.Exec](u.node) {
			switch {
			case len(n.SQL) > 0:
				p.report(u, n.Span, "write the statement itself", "a string is executed as SQL")
			case n.ProcVar != nil:
				p.report(u, n.Span, "call procedures by name", "a variable names the procedure that is executed")
			case n.Name != nil && same(n.Name.Last().Value, "sp_executesql"):
				p.report(u, n.Span, "write the statement itself", "sp_executesql executes a string as SQL")
			}
		}
	}
}

// checkStars reports * and t.*, in views as well, whose columns are frozen when they are created and don't follow the
// table until sp_refreshview.
func checkStars(p *pass) {
	for _, u := range p.units {
		syntax.Walk(u.node, func(n syntax.Node) bool {
			switch n := n.(type) {
			// EXISTS (SELECT * …) reads no column, and is how many people write it.
			case *syntax.Exists:
				return !bareStar(n.Query)
			case *syntax.Star:
				p.report(u, n.Span, "list the columns", "%s instead of a list of columns", u.script.File.Slice(n.Span))
			}
			return true
		})
	}
}

// bareStar says that a query of EXISTS selects nothing but *, which reads no columns.
func bareStar(q *syntax.Query) bool {
	body, ok := q.Body.(*syntax.Select)
	if !ok || len(body.Items) != 1 {
		return false
	}
	_, star := body.Items[0].X.(*syntax.Star)
	return star
}

// checkQualified reports plain columns where they could be of several tables. Names that begin with $ are the
// system's ($action, $rowguid).
func checkQualified(p *pass) {
	for _, u := range p.units {
		for n, ref := range u.Refs {
			if len(n.Parts) > 1 || ref.Visible < 2 || ref.Exempt || strings.HasPrefix(n.Parts[0].Value, "$") {
				continue
			}
			name, fix := n.Parts[0].Value, "write its table or alias before it"
			// The resolver may know whose column it is; then the fix can be pasted.
			if ref.Source != nil && ref.Source.Name != "" {
				fix = "write " + ref.Source.Name + "." + name
			}
			p.report(u, n.Span, fix, "column %s is not qualified, and %s are read here", name, diag.Count(ref.Visible, "table"))
		}
	}
}

// checkNamed looks at everything whose columns somebody will ask for by name: results, views, inline functions and
// OUTPUT. A derived table or a CTE without a name is refused by the server itself.
func checkNamed(p *pass) {
	for _, u := range p.units {
		syntax.Walk(u.node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.SelectStmt:
				p.checkResultNames(u, n.Query.Body, nil)
			case *syntax.CreateView:
				p.checkResultNames(u, n.Query.Body, n.Columns)
			case *syntax.CreateFunction:
				if n.Inline != nil {
					p.checkResultNames(u, n.Inline.Body, nil)
				}
			case *syntax.Output:
				if n.Into == nil {
					p.checkItemNames(u, n.Items)
				}
			}
			return true
		})
	}
}

// checkResultNames looks at the first SELECT of a query, which names the columns unless the view does.
func (p *pass) checkResultNames(u *unit, b syntax.QueryBody, names []syntax.Ident) {
	switch b := b.(type) {
	case *syntax.Select:
		if len(names) == 0 {
			p.checkItemNames(u, b.Items)
		}
	case *syntax.SetOperation:
		p.checkResultNames(u, b.X, names)
	case *syntax.ParenQuery:
		p.checkResultNames(u, b.Query.Body, names)
	}
}

// checkItemNames reports columns that are neither columns of a table, which have a name, nor given one.
func (p *pass) checkItemNames(u *unit, items []syntax.SelectItem) {
	for i, item := range items {
		switch item.X.(type) {
		case *syntax.ColumnRef, *syntax.Star:
			continue
		}
		// An assignment, SELECT @a = …, returns nothing.
		if item.Alias == nil && item.Variable == nil {
			at := diag.Span{From: item.From, To: item.To}
			p.report(u, at, "give it one with AS", "column %d of the result has no name", i+1)
		}
	}
}
