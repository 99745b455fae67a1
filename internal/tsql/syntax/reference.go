package syntax

import "github.com/duroxide/duroxide-go/internal/tsql/diag"

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
	name := &ObjectName{Span: span, Parts: parts}
	if isMethod(parts) {
		p.fail(parts[len(parts)-1].Span, "use JSON and its functions, or write ["+parts[len(parts)-1].Value+"] if that is a function of yours",
			"methods of XML and CLR types aren't supported")
	}
	p.checkParts(span, parts)
	return p.call(name)
}

// checkParts refuses names of more than five parts: server.database.schema.table.column.
func (p *parser) checkParts(span diag.Span, parts []Ident) {
	if len(parts) > 5 {
		p.fail(span, "", "a name has more than five parts")
	}
}

// isMethod reports whether a call is of a method of the XML type, whose names are in lower case always.
// A function of the user's may have such a name too; with its schema it is taken for a method unless it is in brackets.
func isMethod(parts []Ident) bool {
	last := parts[len(parts)-1]
	if len(parts) < 2 || last.Quoted {
		return false
	}
	switch last.Value {
	case "value", "query", "exist", "nodes", "modify":
		return true
	default:
		return false
	}
}

// refuseMethod reports x.method(…) and x::method(…), which XML and CLR types have.
//
//	@x.value('(/a)[1]', 'int')   geography::Point(1, 2, 4326)
func (p *parser) refuseMethod() {
	if t := p.peek(); t.isAny(".", "::") {
		p.fail(t.Span, "use JSON and its functions, or a function of your own",
			"methods of XML and CLR types aren't supported")
	}
}

// refuseDocumentMethod is refuseMethod behind a subquery. The usual one is the way to put texts together from before there
// was a function for it:
//
//	STUFF((SELECT ', ' + name … FOR XML PATH(''), TYPE).value('.', 'nvarchar(max)'), 1, 2, '')
func (p *parser) refuseDocumentMethod(q *Query) {
	if t := p.peek(); t.is(".") && q.For != nil && q.For.Kind == "XML" {
		p.fail(t.Span, "use STRING_AGG, or FOR XML PATH('') without TYPE and without the method, which leaves & and < as XML writes them",
			"methods of XML and CLR types aren't supported")
	}
}

// wordIdent makes a name of a keyword that is the name of a function.
func wordIdent(t token) Ident { return Ident{Span: t.Span, Value: t.value} }

// wordName is wordIdent as the name of an object.
func wordName(t token) *ObjectName {
	return &ObjectName{Span: t.Span, Parts: []Ident{wordIdent(t)}}
}
