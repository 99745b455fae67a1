package syntax

import "github.com/duroxide/duroxide-go/tsql/internal/diag"

// named reads a column or, when a parenthesis follows the name, a call.
//
//	c   t.c   dbo.t.c   db..t.c   f(…)   dbo.f(…)
func (p *parser) named() Expr {
	start := p.peek().Span
	parts := []Ident{p.ident()}
	for p.peek().is(".") {
		p.next()
		if p.peek().is("*") {
			p.fail(p.peek().Span, "list the columns", "%s.* can stand only in a select list or an OUTPUT list", parts[0].Value)
		}
		// A part may be left out: db..t.c.
		if p.peek().is(".") && parts[len(parts)-1].Value != "" {
			parts = append(parts, Ident{Span: p.peek().Span})
			continue
		}
		parts = append(parts, p.ident())
	}
	span := p.from(start)
	if !p.peek().is("(") {
		p.checkParts(span, parts)
		return &ColumnRef{Span: span, Parts: parts}
	}
	// In x.value(…), x may be a column of type xml or a schema; the name of the method decides.
	if isMethod(parts) {
		return p.method(columnOf(parts), parts[len(parts)-1])
	}
	name := &ObjectName{Span: span, Parts: parts}
	p.checkParts(span, parts)
	return p.call(name)
}

// checkParts refuses names of more than five parts: server.database.schema.table.column.
func (p *parser) checkParts(span diag.Span, parts []Ident) {
	if len(parts) > 5 {
		p.fail(span, "", "a name has more than five parts")
	}
}

// modify is the method of xml that changes a value. SET x.modify(…) is read as x = x.modify(…).
const modify = "modify"

// modified reads the arguments of x.modify(…) in SET.
func (p *parser) modified(x Expr, name Ident) *Method {
	m := &Method{X: x, Name: name, Args: p.methodArgs(name)}
	m.Span = p.from(x.Range())
	return m
}

// isMethod reports whether a call is of a method of the XML type, whose names are in lower case always.
// A function of the user's may have such a name too; with its schema it is taken for a method unless it is in brackets.
func isMethod(parts []Ident) bool {
	last := parts[len(parts)-1]
	if len(parts) < 2 || last.Quoted {
		return false
	}
	switch last.Value {
	case "value", "query", "exist", "nodes", modify:
		return true
	default:
		return false
	}
}

// columnOf returns the column in front of a method.
func columnOf(parts []Ident) *ColumnRef {
	column := parts[:len(parts)-1]
	return &ColumnRef{Span: column[0].Span.Until(column[len(column)-1].Span), Parts: column}
}

// startsMethod reports whether a method of a value is next, of xml or of a CLR type. Which types have it is for package
// analyze to say.
func (p *parser) startsMethod() bool {
	return p.peek().is(".") && p.peekN(1).kind == tokenWord && p.peekN(2).is("(")
}

// typeMethod reads hierarchyid::GetRoot() and its like, or returns nil.
func (p *parser) typeMethod(x Expr) Expr {
	c, ok := x.(*ColumnRef)
	if !ok || len(c.Parts) > 1 || !p.peek().is("::") || p.peekN(1).kind != tokenWord || !p.peekN(2).is("(") {
		return nil
	}
	p.next()
	m := &Method{Type: &c.Parts[0], Name: p.ident()}
	m.Args = p.methodArgs(m.Name)
	m.Span = p.from(x.Range())
	return m
}

// method reads the arguments of a method of the xml value x. What has the name of one and is a function of the user's
// is written in brackets.
func (p *parser) method(x Expr, name Ident) *Method {
	switch name.Value {
	case modify:
		p.fail(name.Span, "write SET x.modify(…)", "modify changes a value and stands only in SET")
	case "nodes":
		p.fail(name.Span, "put it into FROM: … CROSS APPLY x.nodes(…) AS t (c)", "nodes yields rows and stands only in FROM")
	}
	m := &Method{X: x, Name: name, Args: p.methodArgs(name)}
	m.Span = p.from(x.Range())
	return m
}

// methodArgs reads the arguments of a method.
func (p *parser) methodArgs(name Ident) []Expr {
	p.expect("(")
	var args []Expr
	if !p.peek().is(")") {
		args = commaList(p, p.expr)
	}
	p.expectClose(name.Value + " (")
	return args
}

// nodes reads what follows x in x.nodes('path') AS t (c).
func (p *parser) nodes(x Expr, name Ident) *NodesTable {
	n := &NodesTable{Call: &Method{X: x, Name: name, Args: p.methodArgs(name)}}
	n.Call.Span = p.from(x.Range())
	n.Alias = p.tableAlias()
	if n.Alias == nil || !p.peek().is("(") {
		p.fail(n.Call.Span, "add AS t (c)", "nodes needs an alias and the name of its column")
	}
	n.Columns = p.identList()
	n.Span = p.from(x.Range())
	return n
}

// refuseMethod reports properties of CLR types, as geography::[Null], and their methods where none can stand.
func (p *parser) refuseMethod() {
	if t := p.peek(); t.isAny(".", "::") {
		p.fail(t.Span, "use a function of your own", "properties of CLR types aren't supported")
	}
}

// wordIdent makes a name of a keyword that is the name of a function.
func wordIdent(t token) Ident { return Ident{Span: t.Span, Value: t.value} }

// wordName is wordIdent as the name of an object.
func wordName(t token) *ObjectName {
	return &ObjectName{Span: t.Span, Parts: []Ident{wordIdent(t)}}
}
